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
  {
    name: 'Excel: cells over several rows, and lines in a cell',
    html: EXCEL(` <tr height=20><td>Team</td><td>Name</td><td>Address</td></tr>
 <tr height=40><td rowspan=2 height=40>Core</td><td>Ada</td><td>1 Road<br>
    London</td></tr>
 <tr height=20><td>Bob</td><td>&nbsp;</td></tr>`),
    text: 'Team\tName\tAddress\r\nCore\tAda\t"1 Road\nLondon"\r\n\tBob\t\r\n',
    markdown: '| Team | Name | Address |\n| --- | --- | --- |\n| Core | Ada | 1 Road London |\n|  | Bob |  |',
  },
  {
    name: 'Google Docs: check list and raised text',
    html: DOCS(
      `<ul><li dir="ltr" role="checkbox" aria-checked="false" aria-level="1"><img src="data:image/png;base64,AA" alt="unchecked" aria-roledescription="checkbox" />${docsLine(docs('Buy 10 m'))}</li><li dir="ltr" role="checkbox" aria-checked="true" aria-level="1"><img src="data:image/png;base64,AA" alt="checked" />${docsLine(`${docs('E=mc')}<span style="${DOCS_TEXT}vertical-align:super;">2</span>`)}</li></ul>`,
    ),
    text: 'Buy 10 m\nE=mc2',
    markdown: '* [ ] Buy 10 m\n* [x] E=mc²',
  },
  {
    name: 'Word: bullets before numbers',
    html: WORD(
      `${wordItem('·', 'Bread')}\n${wordItem('1.', 'Open')}\n${wordItem('a.', 'the door', 2)}\n${wordItem('2.', 'Close')}`,
    ),
    text: '·\tBread\r\n1.\tOpen\r\na.\tthe door\r\n2.\tClose\r\n',
    markdown: '* Bread\n\n1. Open\n  1. the door\n2. Close',
  },
  {
    name: 'Outlook: lines, an address and a hidden text',
    html: WORD(`<div class=WordSection1><p class=MsoNormal>Hi,<o:p></o:p></p><ul type=disc><li class=MsoListParagraph
style='mso-list:l0 level1 lfo1'>one<o:p></o:p></li><ul type=circle><li class=MsoListParagraph style='mso-list:l0 level2 lfo1'>two</li></ul></ul>
<p class=MsoNormal><b>From:</b> Bob &lt;<a href="mailto:bob@example.com">bob@example.com</a>&gt;<br>
<b>Sent:</b> Monday<span style='display:none'>x</span><o:p></o:p></p></div>`),
    text: 'Hi,\r\n\r\n*\tone\r\n*\ttwo\r\n\r\nFrom: Bob <bob@example.com>\r\nSent: Monday\r\n',
    markdown: 'Hi,\n\n* one\n  * two\n\n**From:** Bob <bob@example.com>\n**Sent:** Monday',
  },
  {
    name: 'Gmail: lines and a reply',
    html: `<div dir="ltr">Hi Ada,<div><br></div><div>see <a href="https://example.com/plan">the plan</a>.</div><div>Bob</div><div class="gmail_quote"><div dir="ltr" class="gmail_attr">Ada wrote:<br></div><blockquote class="gmail_quote" style="margin:0px 0px 0px 0.8ex"><div>the <b>old</b> text</div></blockquote></div></div>`,
    text: 'Hi Ada,\n\nsee the plan.\nBob\nAda wrote:\n\n> the old text',
    markdown:
      'Hi Ada,\n\nsee [the plan](https://example.com/plan).\nBob\n\nAda wrote:\n\n```quote\nthe **old** text\n```',
  },
  {
    name: 'Email: layout by a table of one cell',
    html: `<table role="presentation"><tbody><tr><td><p>Dear Ada,</p><p>it is <b>done</b>.</p></td></tr></tbody></table>`,
    text: 'Dear Ada,\n\nit is done.',
    markdown: 'Dear Ada,\n\nit is **done**.',
  },
  {
    name: 'Apple Notes: title and lines',
    html: `<meta charset="UTF-8"><div class="title" style="margin: 0px"><b>Trip</b></div><div>Train at 9</div><div><br></div><ul class="Apple-dash-list"><li>Bag<ul class="Apple-dash-list"><li>Book</li></ul></li></ul>`,
    text: 'Trip\nTrain at 9\n\n\t- Bag\n\t\t- Book',
    markdown: '**Trip**\nTrain at 9\n\n* Bag\n  * Book',
  },
  {
    name: 'Slack: list with levels, and a space between paragraphs',
    html: `<meta charset='utf-8'>${slack('Two')}<span class="c-mrkdwn__br" data-stringify-type="paragraph-break" style="display: block; height: 8px;"></span>${slack('paragraphs')}<ul data-stringify-type="unordered-list" data-indent="0"><li data-stringify-indent="0">One</li></ul><ul data-stringify-type="unordered-list" data-indent="1"><li data-stringify-indent="1">Below</li></ul><ol data-stringify-type="ordered-list" data-indent="2"><li>Deep</li></ol><ul data-stringify-type="unordered-list" data-indent="0"><li>Two</li></ul>`,
    text: 'Two\n\nparagraphs\n• One\n    ◦ Below\n        1. Deep\n• Two',
    markdown: 'Two\n\nparagraphs\n\n* One\n  * Below\n    1. Deep\n* Two',
  },
  {
    name: 'GitHub: tasks, code and a heading with its link',
    html: `<meta charset='utf-8'><div class="markdown-heading" dir="auto"><h2 class="heading-element">Tasks</h2><a id="user-content-tasks" class="anchor" aria-label="Permalink: Tasks" href="https://github.com/a/b#tasks"><svg class="octicon"><path d="m7"></path></svg></a></div><ul class="contains-task-list"><li class="task-list-item"><input type="checkbox" class="task-list-item-checkbox" disabled=""> Write</li><li class="task-list-item"><input type="checkbox" checked="" disabled=""> Read <a href="https://github.com/a/b/issues/1">#1</a></li></ul><div class="highlight highlight-source-js" dir="auto"><pre><span class="pl-k">if</span> (a) {\n  <span class="pl-en">b</span>();\n}</pre></div>`,
    text: 'Tasks\n Write\n Read #1\nif (a) {\n  b();\n}',
    markdown:
      '## Tasks\n\n* [ ] Write\n* [x] Read [#1](https://github.com/a/b/issues/1)\n\n```js\nif (a) {\n  b();\n}\n```',
  },
  {
    name: 'ChatGPT: steps with code below a caption, and a formula',
    html: `<meta charset='utf-8'><ol data-start="1" data-end="90"><li><p>Install:</p><pre class="overflow-visible!"><div class="contain-inline-size"><div class="flex text-xs">bash</div><div class="sticky"><button>Copy code</button></div><div class="overflow-y-auto p-4"><code class="whitespace-pre! language-bash"><span><span class="hljs-built_in">npm</span> i</span>\n</code></div></div></pre></li><li><h3>Start</h3><p>as <strong>root</strong></p><ul><li>or not</li></ul></li></ol><p>where <span class="katex"><span class="katex-mathml"><math xmlns="http://www.w3.org/1998/Math/MathML"><semantics><mrow><mi>x</mi><mo>=</mo><mn>1</mn></mrow><annotation encoding="application/x-tex">x=1</annotation></semantics></math></span><span class="katex-html" aria-hidden="true"><span class="base">x=1</span></span></span></p>`,
    text: 'Install:\n\nbash\nCopy code\nnpm i\nStart\nas root\n\nor not\nwhere x=1',
    markdown: '1. Install:\n\n```bash\nnpm i\n```\n\n2. **Start**\n  as **root**\n  * or not\n\nwhere $$x=1$$',
  },
  {
    name: 'Notion: tasks, nested list and a callout',
    html: `<meta charset='utf-8'><ol>\n<li>First\n<ul>\n<li>inner</li>\n</ul>\n</li>\n<li>Second<br>\nline</li>\n</ol>\n<ul>\n<li>[ ]  Task</li>\n</ul>\n<aside>\n💡 Callout with <strong>text</strong>\n</aside>\n<!-- notionvc: 1 -->`,
    text: '1. First\n    - inner\n2. Second\nline\n- [ ]  Task\n\n💡 Callout with text',
    markdown: '1. First\n  * inner\n2. Second\n  line\n\n* [ ] Task\n\n💡 Callout with **text**',
  },
  {
    name: 'Wikipedia: notes, units, a formula and a link to edit',
    html: `<meta charset='utf-8'><p><b>Berlin</b><sup id="cite_ref-1" class="reference"><a href="https://en.wikipedia.org/wiki/Berlin#cite_note-1">[1]</a></sup> has 891 km<sup>2</sup>, H<sub>2</sub>O, 10<sup>−6</sup> and <span class="mwe-math-element"><img src="https://wikimedia.org/api/rest_v1/media/math/render/svg/a" class="mwe-math-fallback-image-inline" alt="{\\displaystyle x^{2}}"></span>.<span class="mw-editsection">[<a href="https://en.wikipedia.org/w/index.php?action=edit">edit</a>]</span></p>`,
    text: 'Berlin[1] has 891 km2, H2O, 10−6 and .[edit]',
    markdown: '**Berlin** has 891 km², H₂O, 10⁻⁶ and $$x^{2}$$.',
  },
  {
    name: 'Confluence: tasks, code with a language and paragraphs in cells',
    html: `<meta charset='utf-8'><p>Hello <span class="emoji-common-node"><img class="emoji" src="https://a.example/1.png" alt=":tada:"></span></p><pre data-language="java"><code>int a;\nint b;</code></pre><table data-number-column="false"><tbody><tr><th><p><strong>H</strong></p></th><th><p>K</p></th></tr><tr><td><p>a</p><p>b</p></td><td><ul><li><p>x</p></li><li><p>y</p></li></ul></td></tr><tr><td><code>a || b</code></td><td>c|d</td></tr></tbody></table>`,
    text: 'Hello 🎉\nint a;\nint b;\nH\nK\na\nb\nx\ny\na || b\nc|d',
    markdown:
      'Hello :tada:\n\n```java\nint a;\nint b;\n```\n\n| H | K |\n| --- | --- |\n| a b | x y |\n| `a || b` | c&#124;d |',
  },
  {
    name: 'Linear: tasks',
    html: `<ul data-type="todo_list"><li data-type="todo_item" data-checked="false"><p>Write</p></li><li data-type="todo_item" data-checked="true"><p>Read</p></li></ul>`,
    text: '- [ ] Write\n- [X] Read',
    markdown: '* [ ] Write\n* [x] Read',
  },
  {
    name: 'Documentation: keys, terms and lines of code as boxes',
    html: `<meta charset='utf-8'><h1>Copy<a class="headerlink" href="https://docs.example/#copy">¶</a></h1><dl><dt>Keys</dt><dd>Press <kbd>Ctrl</kbd>+<kbd>C</kbd></dd></dl><pre class="brush: js notranslate"><div>a();</div><div><br></div><div>b();</div></pre>`,
    text: 'Copy\nKeys\nPress Ctrl+C\na();\n\nb();',
    markdown: '# Copy\n\nKeys\n\nPress `Ctrl`+`C`\n\n```js\na();\n\nb();\n```',
  },
  {
    name: 'Web page: right-to-left text and emoji as pictures',
    html: `<meta charset='utf-8'><p dir="rtl">שלום <b>עולם</b>! <img class="emoji" alt="🎉" src="https://a.example/1.svg"><img alt="🇩🇪" src="https://a.example/2.svg"><img alt="1️⃣" src="https://a.example/3.svg"></p><ul dir="rtl"><li>מילה</li><li>שנייה</li></ul>`,
    text: 'שלום עולם! \nמילה\nשנייה',
    markdown: 'שלום **עולם**! 🎉🇩🇪1️⃣\n\n* מילה\n* שנייה',
  },
  {
    name: 'Parley: formula and emoji of a message',
    html: `<p style="margin-block: 0.35em;">Area <span><span class="katex" role="math" aria-label="a^2"><span class="katex-html" aria-hidden="true"><span class="mord mathnormal" style="font-style: italic;">a</span><span class="msupsub">2</span></span></span></span> <span class="_emoji_1k0vr_130" role="img" aria-label="tada" title=":tada:">🎉</span> <button type="button">@Ada</button></p>`,
    text: 'Area a\n2\n  🎉 @Ada',
    markdown: 'Area $$a^2$$ 🎉 @Ada',
  },
];
