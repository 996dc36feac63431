"""How the report looks, by day and by night."""

STYLE = """
:root{color-scheme:light dark;--ink:#1d2430;--soft:#5b6675;--line:#dfe3e9;--paper:#fff;--back:#f5f6f8;--ours:#2563a8;
--second:#c2701d;--baseline:#a3acb8;--right:#2e7d4f;--wrong:#b3402f}
@media (prefers-color-scheme:dark){:root{--ink:#e6e9ee;--soft:#9aa5b3;--line:#323a46;--paper:#1b2028;--back:#12161c;
--ours:#6ea8e6;--second:#e6a15c;--baseline:#6b7685;--right:#5fbf88;--wrong:#e0776a}}
*{box-sizing:border-box}
body{margin:0;background:var(--back);color:var(--ink);font:15px/1.5 system-ui,"Noto Sans","Noto Sans CJK SC",
"PingFang SC","Microsoft YaHei",sans-serif}
main{max-width:1080px;margin:0 auto;padding:28px 20px 60px}
header{margin-bottom:20px}
h1{font-size:26px;margin:0 0 6px;font-weight:650}
h2{font-size:18px;margin:0 0 14px;font-weight:620}
h3{font-size:15px;margin:0 0 8px;font-weight:600}
h3 small{color:var(--soft);font-weight:400;margin-right:4px}
h4{font-size:12px;margin:0 0 6px;font-weight:600;color:var(--soft);letter-spacing:.03em}
p{margin:0 0 6px}
.about{color:var(--soft);font-size:13px;margin:0;overflow-wrap:anywhere}
.note{color:var(--soft);font-size:13px;max-width:75ch}
section{background:var(--paper);border:1px solid var(--line);border-radius:10px;padding:20px 22px;margin:0 0 16px}
.cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(165px,1fr));gap:12px;background:none;border:0;padding:0}
.card{background:var(--paper);border:1px solid var(--line);border-radius:10px;padding:14px 16px;display:flex;
flex-direction:column}
.card b{font-size:30px;line-height:1.15;font-weight:640;font-variant-numeric:tabular-nums}
.card b i{font-size:16px;font-style:normal;font-weight:500;color:var(--soft)}
.card span{font-size:13.5px;margin-bottom:4px}
.card small{color:var(--soft);font-size:12px;font-variant-numeric:tabular-nums}
.row{display:flex;flex-wrap:wrap;gap:18px 36px}
figure{margin:0 0 6px}
figcaption{font-size:13px;color:var(--soft);margin-bottom:4px;overflow-wrap:anywhere}
figcaption small{display:block}
svg{display:block;max-width:100%;height:auto;font:12px system-ui,"Noto Sans CJK SC",sans-serif}
svg .ours,i.ours{fill:var(--ours);background:var(--ours)}
svg .second,i.second{fill:var(--second);background:var(--second)}
svg .baseline,i.baseline{fill:var(--baseline);background:var(--baseline)}
svg path{fill:none;stroke-width:1}
svg .grid{stroke:var(--line)}
svg .axis,svg .zero{stroke:var(--soft)}
svg .whisker{stroke:var(--ink);stroke-width:1.3}
svg .dot{fill:var(--ours)}
svg .mark{stroke:var(--ink);stroke-width:1.5}
svg .late{stroke-dasharray:3 3}
svg .cell{fill-opacity:var(--strength)}
svg .cell.right{fill:var(--right)}
svg .cell.wrong{fill:var(--wrong)}
svg text{fill:var(--ink);font-variant-numeric:tabular-nums}
svg .tick{fill:var(--soft);font-size:11px}
svg .value{font-size:11.5px;font-weight:600}
.legend{display:flex;flex-wrap:wrap;gap:4px 16px;font-size:13px;color:var(--soft);margin:4px 0 8px}
.legend i{display:inline-block;width:11px;height:11px;border-radius:3px;margin-right:6px;vertical-align:-1px}
.wide{overflow-x:auto}
table{border-collapse:collapse;font-size:13.5px;width:100%;font-variant-numeric:tabular-nums}
th{text-align:start;font-weight:600;color:var(--soft);font-size:12.5px}
th,td{padding:5px 12px 5px 0;border-bottom:1px solid var(--line);vertical-align:top;overflow-wrap:anywhere}
article{border-top:1px solid var(--line);padding:16px 0 10px}
article:first-of-type{border-top:0;padding-top:0}
.tags{display:flex;flex-wrap:wrap;gap:6px;margin-bottom:10px}
.tags span{font-size:12px;color:var(--wrong);border:1px solid var(--wrong);border-radius:20px;padding:0 9px}
.pair{display:grid;grid-template-columns:1fr 1fr;gap:20px}
.pair>div{min-width:0}
.pair p,.pair li{overflow-wrap:anywhere;font-size:14px}
.pair ol{margin:4px 0 8px;padding-left:22px;color:var(--soft);font-size:13px}
.pair img{display:block;max-width:100%;max-height:420px;border:1px solid var(--line);border-radius:6px;background:#fff}
.said{border-left:3px solid var(--line);padding-left:10px}
details summary{cursor:pointer;color:var(--soft)}
@media (max-width:700px){.pair{grid-template-columns:1fr}main{padding:16px 12px}}
"""
