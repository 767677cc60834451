import { type ContentParts, joinContent, listedFiles, nextMessage, splitContent } from './attached-files.js';

const A = '[a.png](/user_uploads/2/ab/a.png)';
const B = '[b (1).pdf](/user_uploads/2/cd/b-1.pdf)';
const FILE_A = { name: 'a.png', url: '/user_uploads/2/ab/a.png' };
const FILE_B = { name: 'b (1).pdf', url: '/user_uploads/2/cd/b-1.pdf' };

test.each<[name: string, content: string, parts: ContentParts]>([
  ['no text', '', { text: '', files: [] }],
  ['a text without files', 'See\n', { text: 'See\n', files: [] }],
  ['only files', `${A}\n${B}`, { text: '', files: [FILE_A, FILE_B] }],
  ['a text with files', `See\n\nthis\n\n${A}\n${B}`, { text: 'See\n\nthis', files: [FILE_A, FILE_B] }],
  ['single and empty lines of other clients', `See\n${A}\n\n${B} \n\n`, { text: 'See', files: [FILE_A, FILE_B] }],
  ['Windows line ends', `See\r\n${A}\r\n${B}`, { text: 'See', files: [FILE_A, FILE_B] }],
  ['a link within a line', `See ${A}`, { text: `See ${A}`, files: [] }],
  ['two links in a line', `${A} ${B}`, { text: `${A} ${B}`, files: [] }],
  ['a link before the last line', `${A}\nSee`, { text: `${A}\nSee`, files: [] }],
  ['a list of links', `* ${A}`, { text: `* ${A}`, files: [] }],
  ['a link in an indented block', `    ${A}`, { text: `    ${A}`, files: [] }],
  ['a link in a code block', `\`\`\`\n${A}\n\`\`\``, { text: `\`\`\`\n${A}\n\`\`\``, files: [] }],
  ['a link in an open code block', `\`\`\`\n${A}`, { text: `\`\`\`\n${A}`, files: [] }],
  ['a link to another page', '[a](https://a.example/user_uploads/1/a)', expect.objectContaining({ files: [] })],
  ['a link that the text contains, too', `See ${A}\n\n${A}`, { text: `See ${A}\n\n${A}`, files: [] }],
])('splits %s', (_, content, parts) => {
  expect(splitContent(content)).toEqual(parts);
});

test.each([
  '',
  'See',
  ' See \n',
  'See\n\n',
  'See [c](/user_uploads/2/ef/c) and [d](/user_uploads/2/ef/d)',
  '```\ncode\n```',
  '> quoted',
  '* entry',
])('joins split content to the same content: %j', (text) => {
  for (const links of ['', A, `${A}\n${B}`]) {
    const content = text === '' || links === '' ? text + links : `${text.trimEnd()}\n\n${links}`;
    expect(joinContent(splitContent(content))).toBe(content);
  }
});

test('keeps blanks at the end of a text that is being written', () => {
  expect(joinContent({ text: 'See \n', files: [FILE_A] })).toBe(`See \n\n\n${A}`);
});

test.each([
  ['```js\ncode', '```js\ncode\n```'],
  ['~~~~\n~~~', '~~~~\n~~~\n~~~~'],
  ['````quote\nSee\n```js\ncode', '````quote\nSee\n```js\ncode\n```\n````'],
  ['```\n~~~ quote', '```\n~~~ quote\n```'],
])('closes the open blocks of %j before the links', (text, closed) => {
  expect(joinContent({ text, files: [FILE_A] })).toBe(`${closed}\n\n${A}`);
});

test('replaces brackets in names, which would end the link early', () => {
  expect(joinContent({ text: '', files: [{ ...FILE_A, name: 'a [draft].txt' }] })).toBe(
    '[a (draft).txt](/user_uploads/2/ab/a.png)',
  );
});

test('lists a file again once its link was deleted from the text', () => {
  const moved = { text: `See ${A}`, files: [FILE_A, FILE_B] };
  expect(listedFiles(moved)).toEqual([FILE_B]);
  expect(joinContent(moved)).toBe(`See ${A}\n\n${B}`);
  expect(joinContent({ ...moved, text: 'See ' })).toBe(`See \n\n${A}\n${B}`);
});

test.each<[content: string, messages: readonly [message: string, rest: string]]>([
  [`/poll Which?\nRed\nBlue\n\n${A}\n${B}`, [`${A}\n${B}`, '/poll Which?\nRed\nBlue']],
  [`/todo\n\n${A}`, [A, '/todo']],
  [`\n\n/poll Which?\nRed\n\n${A}`, [A, '\n\n/poll Which?\nRed']],
  ['/poll Which?\nRed', ['/poll Which?\nRed', '']],
  [`/polls\n\n${A}`, [`/polls\n\n${A}`, '']],
  [` /poll\n\n${A}`, [` /poll\n\n${A}`, '']],
  [`See\n\n${A}`, [`See\n\n${A}`, '']],
])('sends the files of polls and to-do lists in a message before them: %j', (content, [message, rest]) => {
  expect(nextMessage(content)).toEqual([message, rest]);
  expect(nextMessage(rest)).toEqual([rest, '']);
});
