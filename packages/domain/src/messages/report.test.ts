import { checkReport, quoted } from './report.js';

it.each([
  ['spam', '', null],
  ['other', 'x', null],
  ['other', ' \n', 'REPORT_NEEDS_EXPLANATION'],
  ['spam', '😀'.repeat(1000), null],
  ['spam', 'x'.repeat(1001), 'REPORT_TOO_LONG'],
] as const)('checks a report for %s with the text %j: %s', (reason, description, code) => {
  const check = () => checkReport(reason, description);
  if (code === null) expect(check).not.toThrow();
  else expect(check).toThrow(expect.objectContaining({ code }));
});

it.each([
  ['plain', '```quote\nplain\n```'],
  ['```\ncode\n```', '````quote\n```\ncode\n```\n````'],
  ['a ````` b', '``````quote\na ````` b\n``````'],
])('quotes %j within a longer fence', (text, markdown) => {
  expect(quoted(text)).toBe(markdown);
});

it('truncates long content in a report', () => {
  expect(quoted('😀'.repeat(6001))).toBe(`\`\`\`quote\n${'😀'.repeat(6000)}…\n\`\`\``);
});
