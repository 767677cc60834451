import { workMsOf } from '@parley/testkit/process-usage';
import { parseMrkdwn } from './slack-mrkdwn.js';
import { writeMarkdown } from './write-markdown.js';

const JOINER = '\u2060';
/** CPU time; generous because tests are instrumented. */
const BUDGET_MS = 1000;

const SPACE = '\u00a0';

describe('parseMrkdwn', () => {
  it.each([
    // Emphasis.
    ['*bold* _italic_ ~struck~', '**bold** *italic* ~~struck~~'],
    ['*_both_* _*both*_ ~*_all_*~', '***both*** ***both*** ~~***all***~~'],
    ['*a _b_*', `**a *b*${JOINER}**`],
    ['_a *b* c_', '*a* ***b*** *c*'],
    ['(*bold*), *bold*: "_it_"', '(**bold**), **bold**: "*it*"'],
    ['snake_case_name 2*3*4 a~b~c', 'snake_case_name 2&#42;3&#42;4 a~b~c'],
    ['* a * _ b _', '&#42; a &#42; _ b _'],
    ['**bold** __no__ ~~no~~ ***no***', '**bold** __no__ &#126;&#126;no&#126;&#126; &#42;&#42;&#42;no&#42;&#42;&#42;'],
    ['**a *b** c*', '**a &#42;b** c&#42;'],
    ['*open _closed_', '&#42;open *closed*'],
    ['*one\ntwo*', '&#42;one\ntwo&#42;'],
    ['*a _b* c_', '**a _b** c_'],
    ['*2^10~*', '**2&#94;10&#126;**'],
    ['*a*b*', '**a&#42;b**'],
    // Links.
    [':star: *<https://x.example|Graph>*', '⭐ **[Graph](https://x.example)**'],
    ['<https://x.example>', 'https://x.example'],
    ['<https://x.example/a_(b)?c=1&amp;d=2>', '[https://x.example/a_(b)?c=1&d=2](https://x.example/a_%28b%29?c=1&d=2)'],
    ['<https://x.example|a *b* &lt;c&gt; [d]>', '[a &#42;b&#42; <c> &#91;d&#93;](https://x.example)'],
    ['<https://x.example|:chart_with_upwards_trend:>', '[📈](https://x.example)'],
    ['<https://x.example|:unknown-one:>', '[&#58;unknown-one:](https://x.example)'],
    ['<https://x.example|>', 'https://x.example'],
    ['<mailto:a@x.example|a@x.example>', '[a@x.example](mailto:a@x.example)'],
    ['<tel:+4912345|call>', '[call](tel:+4912345)'],
    ['<javascript://x|y> <slack://open|open>', 'y open'],
    ['<x.example|label>', 'label'],
    ['<b>bold</b> a < b > c <>', '<b>bold</b> a < b > c <>'],
    ['<*a* _b_>', '<**a** *b*>'],
    ['see https://x.example/a_b_c, ok', 'see https://x.example/a_b_c, ok'],
    ['(https://x.example/a)', '(https://x.example/a)'],
    ['*https://x.example*', '**[https://x.example](https://x.example)**'],
    ['https://x.example/a_(b) _c_', '[https://x.example/a_(b)](https://x.example/a_%28b%29) *c*'],
    ['xhttps://x.example/*a*', 'xhttps://x.example/&#42;a&#42;'],
    ['<https://x.example/&amp;copy;a$$b$$|x>', '[x](https://x.example/&copy%3Ba%24%24b%24%24)'],
    // Mentions and broadcasts.
    ['<@U123ABC> <@W1|bob>', '@U123ABC @bob'],
    ['<#C123> <#C1|general> <#C1|>', '#C123 #general #C1'],
    ['<!subteam^S1> <!subteam^S1|@devs>', '@S1 @devs'],
    ['<!here> <!channel> <!everyone|everyone> <!here|@here>', '@here @channel @everyone @here'],
    ['<!unknown> <!unknown|label>', '<!unknown> label'],
    ['<@U1|**all**>', '@&#42;&#42;all&#42;&#42;'],
    // Emoji.
    [':thumbsup: :+1: :white_check_mark:', '👍 👍 ✅'],
    [':wave::skin-tone-4: :male-technologist::skin-tone-6:', '👋🏽 👨🏿‍💻'],
    [':star::skin-tone-3: :skin-tone-3:', '⭐ 🏼'],
    [':my_emoji:', ':my_emoji:'],
    ['10:30:45 a:b:c x:fire:', '10&#58;30:45 a&#58;b:c x&#58;fire:'],
    // Dates.
    ['<!date^1392734382^{date_num} {time_secs}|x>', '<time:2014-02-18T14:39:42Z>'],
    ['<!date^1392734382^On {date_long} at {time}!|x>', 'On <time:2014-02-18T14:39:42Z>!'],
    [
      '<!date^1392734382^{date}, long before {time}|x>',
      '<time:2014-02-18T14:39:42Z>, long before <time:2014-02-18T14:39:42Z>',
    ],
    ['<!date^1392734382^{ago}^https://x.example|x>', '[<time:2014-02-18T14:39:42Z>](https://x.example)'],
    ['<!date^0^now|x>', '<time:1970-01-01T00:00:00Z>'],
    ['<!date^999999999999^{date}|some &lt;day&gt;>', 'some <day>'],
    // Code.
    ['run `make *all*` now', 'run `make *all*` now'],
    ['`a &lt;b&gt; <https://x.example|x.example> <pod>`', '`a <b> x.example <pod>`'],
    ['`@**all**`', '`@**all**`'],
    ['`a``b`', `\`a\`${JOINER}\`b\``],
    ['C:\\`a`', `C:\\${JOINER}\`a\``],
    ['``` a\n  @**all** &amp;```', '```text\n a\n  @**all** &\n```'],
    [
      'before ```code``` after',
      'before \n\n```text\ncode\n```\n\n after'.replace(' \n', '\n').replace('\n after', `\n${SPACE}after`),
    ],
    ['```a', '&#96;&#96;&#96;a'],
    ['``````', ''],
    // Quotes.
    ['&gt; one\n&gt;two\nafter', '```quote\none\ntwo\n```\n\nafter'],
    ['> one\n\n> two', '```quote\none\n```\n\n```quote\ntwo\n```'],
    ['before\n&gt;&gt;&gt; one\ntwo ```code```', 'before\n\n````quote\none\ntwo\n\n```text\ncode\n```\n````'],
    ['a &gt; b', 'a > b'],
    // Text that would mean something else in Markdown.
    ['# a\n## b\n#c #\n#', '&#35; a\n#&#35; b\n#c #\n&#35;'],
    ['- a\n+ b\n1. c\n12. d\n1) e', '&#45; a\n&#43; b\n1&#46; c\n12&#46; d\n1) e'],
    ['---\n___\n- - -', '&#45;--\n&#95;__\n&#45; - -'],
    ['a | b\n--|--\nc | d', 'a | b\n&#45;-|--\nc | d'],
    [
      '[x](https://y.example) ![x](/user_uploads/1)',
      '&#91;x&#93;(https://y.example) &#33;&#91;x&#93;(/user_uploads/1)',
    ],
    [
      '$$x$$ &amp;copy; <time:2024-01-01> ~~~',
      '&#36;&#36;x&#36;&#36; &amp;copy; &lt;time:2024-01-01> &#126;&#126;&#126;',
    ],
    ['@**all** @_*all* #**x** @*all*', `@${JOINER}**all** @_${JOINER}**all** #${JOINER}**x** @${JOINER}**all**`],
    ['/me waves\n/poll', '&#47;me waves\n/poll'],
    // White space.
    ['\n\n a\n\n\n\n    b\t\n\n', `${SPACE}a\n\n${SPACE.repeat(4)}b`],
    ['a\r\nb\u0000c\u2028d', 'a\nb c\nd'],
    ['', ''],
    [' \n ', ''],
  ])('converts %j', (mrkdwn, markdown) => {
    expect(writeMarkdown(parseMrkdwn(mrkdwn))).toBe(markdown);
  });

  it.each([
    '*a_b~<@c>`',
    'ahttp://',
    '*a ',
    '_*a ',
    '<',
    '`',
    '>\n',
    '```',
    ':a',
    '~',
    '&lt;',
    '>>>',
    '<!date^1^{date}|x>',
    '(https://x)',
  ])('converts a long text of %j in linear time', async (piece) => {
    const text = piece.repeat(40_000 / piece.length);
    expect(await workMsOf(async () => writeMarkdown(parseMrkdwn(text)), BUDGET_MS)).toBeLessThan(BUDGET_MS);
  });

  it('leaves mentions to the resolver and separates them from the text before', () => {
    const names: Readonly<Record<string, string>> = {
      U1: '@_**Ann|31**',
      C1: '#**design**',
      S1: '@_*support*',
      here: '@_**all**',
    };
    const text = 'hi <@U1>, (<#C1>) cc:<!subteam^S1> *<!here>* <@U2|bob>';
    expect(writeMarkdown(parseMrkdwn(text), ({ id }) => names[id] ?? null)).toBe(
      'hi @_**Ann|31**, (#**design**) cc: @_*support* @_**all** @bob',
    );
  });
});
