"""Three articles of the help centre of an invented online storage service, as plain text."""

from __future__ import annotations

from pathlib import Path

ARTICLES = {
    "reset-password.txt": """\
Reset your Lumenbox password

You can choose a new password at any time. You need access to the e-mail address of your account.

1. Open the sign-in page and select "Forgot password".
2. Enter the e-mail address of your account and select "Send link".
3. Open the link in the message and choose a new password.

The link is valid for 45 minutes and works once. If it has expired, ask for a new one.

After six failed sign-ins the account is locked for 20 minutes. Waiting is enough: the lock opens by itself.

If you no longer have access to your e-mail address, contact support and have your customer number ready. For your
protection we then check your identity, which takes up to three working days.
""",
    "refunds.txt": """\
Refunds for Lumenbox plans

You can return a yearly plan within 14 days of purchase and get the full price back. Monthly plans are not refunded, but
you can cancel them at any time; they then end with the month that is paid for.

How to ask for a refund

Open "Billing", select the plan and then "Request refund". You do not have to give a reason.

We send the money to the card or account that was charged. Banks need 5 to 7 business days to show it.

If you bought your plan in an app store, the store's own rules apply, and we cannot pay the money back ourselves.

When a plan is refunded, storage above the free 5 GB becomes read-only. Nothing is deleted for another 40 days.
""",
    "data-export.txt": """\
Export your data from Lumenbox

You can download a copy of everything in your account: files, comments, share links and the activity log.

1. Open "Settings" and select "Export data".
2. Choose what to include and select "Create archive".
3. Wait for the message that tells you that the archive is ready.

An archive can be downloaded for 72 hours. After that it is deleted, and you can create a new one.

Archives larger than 4 GB are split into several files. Creating an archive takes about ten minutes for each 25 GB.

Only the owner of a team account can export the data of the whole team. Members can export their own files. You can
create up to three archives a day.
""",
}


def write(folder: Path) -> None:
    for name, text in ARTICLES.items():
        (folder / name).write_bytes(text.encode())
