import { checkReport, quoted } from './report.js';

it.each([
  ['spam', '', null],
  ['other', 'x', null],
  ['other', ' \n', 'REPORT_NEEDS_EXPLANATION'],
  ['spam', '😀'.repeat(1000), null],
  ['spam', 'x'.repeat(1001), 'REPORT_TOO_LONG'],
] as const)('checkReport checks a report for %s with the text %j: %s', (reason, description, code) => {
  const check = () => checkReport(reason, description);
  if (code === null) expect(check).not.toThrow();
  else expect(check).toThrow(expect.objectContaining({ code }));
});

it.each([
  ['plain', '```quote\nplain\n```'],
  ['```\ncode\n```', '````quote\n```\ncode\n```\n````'],
  ['a ````` b', '``````quote\na ````` b\n``````'],
  [
    `${'`'.repeat(200)}\n${'`'.repeat(100)}\nx`,
    `${'`'.repeat(100)}quote\n${'`'.repeat(99)}\n${'`'.repeat(99)}\nx\n${'`'.repeat(100)}`,
  ],
])('quoted puts %j within a longer fence', (text, markdown) => {
  expect(quoted(text)).toBe(markdown);
});

it('quoted truncates long content', () => {
  expect(quoted('😀'.repeat(6001))).toBe(`\`\`\`quote\n${'😀'.repeat(6000)}…\n\`\`\``);
});
