/** Content of the clipboard after a copy in a program, and the Markdown that a paste inserts. */
export interface Clipboard {
  readonly name: string;
  readonly html: string;
  readonly text: string;
  /** Mode of Visual Studio Code, in its own clipboard format. */
  readonly mode?: string;
  readonly markdown: string;
}

const EXCEL = (rows: string): string => `<html xmlns:v="urn:schemas-microsoft-com:vml"
xmlns:o="urn:schemas-microsoft-com:office:office" xmlns:x="urn:schemas-microsoft-com:office:excel"
xmlns="http://www.w3.org/TR/REC-html40">
<head>
<meta http-equiv=Content-Type content="text/html; charset=utf-8">
<meta name=Generator content="Microsoft Excel 15">
<style>
<!--table
	{mso-displayed-decimal-separator:"\\.";}
.xl65 {font-weight:700;}
-->
</style>
</head>
<body link="#0563C1" vlink="#954F72">
<table border=0 cellpadding=0 cellspacing=0 width=192 style='border-collapse:collapse;width:144pt'>
<!--StartFragment-->
 <col width=64 span=3 style='width:48pt'>
${rows}
<!--EndFragment-->
</table>
</body>
</html>`;

const DOCS = (body: string): string =>
  `<meta charset='utf-8'><meta charset="utf-8"><b style="font-weight:normal;" id="docs-internal-guid-1f0a-7fff">${body}</b><br class="Apple-interchange-newline">`;

const DOCS_TEXT = 'font-size:11pt;font-family:Arial,sans-serif;font-style:normal;font-variant:normal;';

const docs = (text: string, style = 'font-weight:400;text-decoration:none;'): string =>
  `<span style="${DOCS_TEXT}${style}vertical-align:baseline;white-space:pre-wrap;">${text}</span>`;

const docsLine = (content: string): string =>
  `<p dir="ltr" style="line-height:1.38;margin-top:0pt;margin-bottom:0pt;">${content}</p>`;

const docsItem = (content: string, level: number): string =>
  `<li dir="ltr" style="list-style-type:disc;${DOCS_TEXT}white-space:pre;" aria-level="${level}"><p dir="ltr" role="presentation">${content}</p></li>`;

const WORD = (body: string): string => `<html xmlns:o="urn:schemas-microsoft-com:office:office"
xmlns:w="urn:schemas-microsoft-com:office:word" xmlns="http://www.w3.org/TR/REC-html40">
<head><title>Minutes</title>
<!--[if gte mso 9]><xml><w:WordDocument></w:WordDocument></xml><![endif]-->
<style>
<!--
 p.MsoNormal {margin:0in;font-size:11.0pt;}
-->
</style>
</head>
<body lang=EN-US style='tab-interval:.5in;word-wrap:break-word'>
<!--StartFragment-->
${body}
<!--EndFragment-->
</body>
</html>`;

const wordItem = (marker: string, text: string, level = 1): string =>
  `<p class=MsoListParagraphCxSpMiddle style='margin-left:.5in;text-indent:-.25in;mso-list:l0 level${level} lfo1'><![if !supportLists]><span
style='font-family:Symbol;mso-bidi-font-family:Symbol'><span style='mso-list:Ignore'>${marker}<span
style='font:7.0pt "Times New Roman"'>&nbsp;&nbsp;&nbsp; </span></span></span><![endif]>${text}<o:p></o:p></p>`;

const CODE = (lines: string): string =>
  `<meta charset='utf-8'><div style="color: #cccccc;background-color: #1f1f1f;font-family: Consolas, 'Courier New', monospace;font-weight: normal;font-size: 14px;line-height: 19px;white-space: pre;">${lines}</div>`;

const SLACK_STYLE =
  'color: rgb(29, 28, 29); font-size: 15px; font-style: normal; font-weight: 400; white-space: normal;';

const slack = (text: string): string =>
  `<span style="${SLACK_STYLE} text-decoration-style: initial; display: inline !important; float: none;">${text}</span>`;

/** Contents in the form that the programs write; texts are made up. */
export const CLIPBOARDS: readonly Clipboard[] = [
  {
    name: 'Excel: cells with a header',
    html: EXCEL(` <tr height=20 style='height:15.0pt'>
  <td height=20 class=xl65 width=64 style='height:15.0pt;width:48pt'>Region</td>
  <td class=xl65 width=64 style='width:48pt'>Orders</td>
 </tr>
 <tr height=20>
  <td height=20 style='height:15.0pt'>North &amp; East</td>
  <td align=right>1,204</td>
 </tr>
 <tr height=20>
  <td height=20>South</td>
  <td></td>
 </tr>`),
    text: 'Region\tOrders\r\nNorth & East\t1,204\r\nSouth\t\r\n',
    markdown: '| Region | Orders |\n| --- | --- |\n| North & East | 1,204 |\n| South |  |',
  },
  {
    name: 'Excel: one cell',
    html: EXCEL(` <tr height=20><td height=20 width=64 style='height:15.0pt'>1,204</td></tr>`),
    text: '1,204',
    markdown: '1,204',
  },
  {
    name: 'Excel: merged cells and a vertical bar',
    html: EXCEL(` <tr height=20><td colspan=2 height=20 class=xl65>Plan</td></tr>
 <tr height=20><td>a|b</td><td><a href="https://example.com/plan">Link</a></td></tr>`),
    text: 'Plan\t\r\na|b\tLink\r\n',
    markdown: '| Plan |  |\n| --- | --- |\n| a&#124;b | [Link](https://example.com/plan) |',
  },
  {
    name: 'Google Sheets: cells',
    html: `<google-sheets-html-origin><style type="text/css"><!--td {border: 1px solid #cccccc;}--></style><table xmlns="http://www.w3.org/1999/xhtml" cellspacing="0" dir="ltr" data-sheets-root="1"><colgroup><col width="100"/><col width="100"/></colgroup><tbody><tr style="height:21px;"><td style="overflow:hidden;padding:2px 3px;font-weight:bold;">Name</td><td style="font-weight:bold;">Team</td></tr><tr><td style="font-style:italic;">Ada</td><td>Core</td></tr></tbody></table>`,
    text: 'Name\tTeam\nAda\tCore',
    markdown: '| Name | Team |\n| --- | --- |\n| *Ada* | Core |',
  },
  {
    name: 'Google Docs: bold, italic and struck text',
    html: DOCS(
      docsLine(
        `${docs('We ship ')}${docs('on Monday', 'font-weight:700;text-decoration:none;')}${docs(', ')}${docs(
          'maybe',
          'font-weight:400;font-style:italic;text-decoration:none;',
        )}${docs(' ')}${docs('Tuesday', 'font-weight:400;text-decoration:line-through;')}${docs('.')}`,
      ),
    ),
    text: 'We ship on Monday, maybe Tuesday.',
    markdown: 'We ship **on Monday**, *maybe* ~~Tuesday~~.',
  },
  {
    name: 'Google Docs: heading and paragraphs',
    html: DOCS(
      `<h1 dir="ltr" style="line-height:1.38;">${docs('Goals')}</h1>${docsLine(docs('First.'))}<br />${docsLine(docs('Second.'))}`,
    ),
    text: 'Goals\nFirst.\n\nSecond.',
    markdown: '# Goals\n\nFirst.\n\nSecond.',
  },
  {
    name: 'Google Docs: nested list',
    html: DOCS(
      `<ul style="margin-top:0;">${docsItem(docs('Fruit'), 1)}<ul>${docsItem(docs('Apple'), 2)}${docsItem(docs('Pear'), 2)}</ul>${docsItem(docs('Bread'), 1)}</ul>`,
    ),
    text: '    • Fruit\n        ◦ Apple\n        ◦ Pear\n    • Bread',
    markdown: '* Fruit\n  * Apple\n  * Pear\n* Bread',
  },
  {
    name: 'Google Docs: link and numbered list',
    html: DOCS(
      `${docsLine(
        `${docs('See ')}<a href="https://example.com/guide" style="text-decoration:none;">${docs('the guide', 'color:#1155cc;font-weight:400;text-decoration:underline;')}</a>`,
      )}<ol>${docsItem(docs('Read'), 1)}${docsItem(docs('Write'), 1)}</ol>`,
    ),
    text: 'See the guide\n1. Read\n2. Write',
    markdown: 'See [the guide](https://example.com/guide)\n\n1. Read\n2. Write',
  },
  {
    name: 'Google Docs: table',
    html: DOCS(
      `<div dir="ltr"><table style="border:none;"><colgroup><col width="312"/><col width="312"/></colgroup><tbody><tr><td>${docsLine(docs('When', 'font-weight:700;'))}</td><td>${docsLine(docs('What'))}</td></tr><tr><td>${docsLine(docs('May'))}</td><td>${docsLine(docs('Beta'))}${docsLine(docs('Docs'))}</td></tr></tbody></table></div>`,
    ),
    text: 'When\tWhat\nMay\tBeta\nDocs',
    markdown: '| When | What |\n| --- | --- |\n| May | Beta Docs |',
  },
  {
    name: 'Word: paragraphs with bold and italic text',
    html: WORD(`<p class=MsoNormal>The <b>second<o:p></o:p></b> quarter
was <i style='mso-bidi-font-style:normal'>quiet</i>.<o:p></o:p></p>

<p class=MsoNormal>See <a href="https://example.com/q2">the
report</a>.<o:p></o:p></p>`),
    text: 'The second quarter was quiet.\r\nSee the report.\r\n',
    markdown: 'The **second** quarter was *quiet*.\n\nSee [the report](https://example.com/q2).',
  },
  {
    name: 'Word: bullets in two levels',
    html: WORD(
      `<p class=MsoNormal>To do:<o:p></o:p></p>\n${wordItem('·', 'Call <b>Ada</b>')}\n${wordItem('o', 'before noon', 2)}\n${wordItem('·', 'Pack')}`,
    ),
    text: 'To do:\r\n·\tCall Ada\r\no\tbefore noon\r\n·\tPack\r\n',
    markdown: 'To do:\n\n* Call **Ada**\n  * before noon\n* Pack',
  },
  {
    name: 'Word: numbered list and a heading',
    html: WORD(
      `<h2>Steps<o:p></o:p></h2>\n${wordItem('3.', 'Open')}\n${wordItem('4.', 'Close')}\n<p class=MsoNormal>Done.<o:p></o:p></p>`,
    ),
    text: 'Steps\r\n3.\tOpen\r\n4.\tClose\r\nDone.\r\n',
    markdown: '## Steps\n\n3. Open\n4. Close\n\nDone.',
  },
  {
    name: 'Word: table',
    html: WORD(`<table class=MsoTableGrid border=1 style='border-collapse:collapse'>
 <tr style='mso-yfti-irow:0'><td width=311><p class=MsoNormal><b>Room<o:p></o:p></b></p></td><td><p class=MsoNormal><b>Seats</b></p></td></tr>
 <tr><td><p class=MsoNormal>Blue<o:p></o:p></p></td><td><p class=MsoNormal>12<o:p></o:p></p></td></tr>
</table>`),
    text: 'Room\tSeats\r\nBlue\t12\r\n',
    markdown: '| Room | Seats |\n| --- | --- |\n| Blue | 12 |',
  },
  {
    name: 'VS Code: lines of code',
    html: CODE(
      `<div><span style="color: #c586c0;">if</span><span style="color: #cccccc;"> (ready) {</span></div><div><span style="color: #cccccc;">    </span><span style="color: #dcdcaa;">go</span><span style="color: #cccccc;">(1 </span><span>&lt;</span> 2);</div><br><div><span>}</span></div>`,
    ),
    text: 'if (ready) {\n    go(1 < 2);\n\n}',
    mode: 'typescript',
    markdown: '```typescript\nif (ready) {\n    go(1 < 2);\n\n}\n```',
  },
  {
    name: 'VS Code: part of a line',
    html: CODE(`<div><span style="color: #9cdcfe;">retry_count</span></div>`),
    text: 'retry_count',
    mode: 'python',
    markdown: 'retry_count',
  },
  {
    name: 'Slack: bold, italic, struck text and code',
    html: `<meta charset='utf-8'>${slack('The ')}<b data-stringify-type="bold" style="font-weight: 700;">build</b>${slack(' is ')}<i data-stringify-type="italic">almost</i>${slack(' ')}<s data-stringify-type="strike">red</s>${slack(', run ')}<code data-stringify-type="code" class="c-mrkdwn__code" style="padding: 2px 3px; white-space: pre-wrap;">npm test</code>`,
    text: 'The build is almost red, run npm test',
    markdown: 'The **build** is *almost* ~~red~~, run `npm test`',
  },
  {
    name: 'Slack: list, emoji and a mention',
    html: `<meta charset='utf-8'><div class="p-rich_text_section">${slack('Thanks ')}<a data-stringify-type="mention" href="/team/U1" class="c-link">@Ada</a>${slack(' ')}<img src="https://a.slack-edge.com/1f389.png" alt=":tada:" data-stringify-type="emoji"></div><ul data-stringify-type="unordered-list" data-indent="0"><li data-stringify-indent="0" style="margin-left: 28px;">One</li><li>Two</li></ul>`,
    text: 'Thanks @Ada :tada:\n• One\n• Two',
    markdown: 'Thanks @Ada :tada:\n\n* One\n* Two',
  },
  {
    name: 'Slack: code block and quote',
    html: `<meta charset='utf-8'><pre class="c-mrkdwn__pre" data-stringify-type="pre" style="white-space: pre-wrap;">const a = 1;<br>const b = 2;</pre><blockquote type="cite" class="c-mrkdwn__quote" data-stringify-type="quote">Well said</blockquote>`,
    text: 'const a = 1;\nconst b = 2;\nWell said',
    markdown: '```text\nconst a = 1;\nconst b = 2;\n```\n\n```quote\nWell said\n```',
  },
  {
    name: 'Web page: text without formatting',
    html: `<meta charset='utf-8'><span style="color: rgb(32, 33, 34); font-family: sans-serif; font-weight: 400; text-decoration-thickness: initial;">Two * three [1]  lines</span>`,
    text: 'Two * three [1]  lines',
    markdown: 'Two * three [1]  lines',
  },
  {
    name: 'Web page: heading, link, picture and code',
    html: `<meta charset='utf-8'><h2 style="font-weight: 700;">Install<a href="#install" aria-hidden="true"></a></h2><p>Use <a href="https://example.com/a_(b)">the <strong>tool</strong></a> on [x].</p><img src="https://example.com/shot.png" alt="Screenshot"><pre><code class="language-sh">npm install
npm start
</code></pre><script>alert(1)</script>`,
    text: 'Install\nUse the tool on [x].\n\nnpm install\nnpm start\n',
    markdown:
      '## Install\n\nUse [the tool](https://example.com/a_%28b%29) on [x].\n\n[Screenshot](https://example.com/shot.png)\n\n```sh\nnpm install\nnpm start\n```',
  },
];
