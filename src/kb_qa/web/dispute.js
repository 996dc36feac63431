// All places of one figure side by side, and what readers decided of it.

export function showDispute({ answerId, n }) {
  void [answerId, n];
}
