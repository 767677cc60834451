import { AnswerReader } from './answer-reader.js';

/** Returns the responses read from these pieces. Each piece is overwritten afterwards, like a socket buffer. */
function read(pieces: readonly string[], keepsBodies = true): string[] {
  const answers: string[] = [];
  const reader = new AnswerReader(keepsBodies, ({ status }, body) => answers.push(`${status} ${body}`));
  for (const piece of pieces) {
    const chunk = Buffer.from(piece);
    reader.take(chunk);
    chunk.fill('x');
  }
  return answers;
}

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello';
const REFUSED = 'HTTP/1.1 400 Bad Request\r\ncontent-length: 2\r\nDate: today\r\n\r\nno';

describe('AnswerReader', () => {
  it.each`
    pieces                                               | answers
    ${[OK]}                                              | ${['200 hello']}
    ${[OK, REFUSED]}                                     | ${['200 hello', '400 no']}
    ${[OK.slice(0, 20), OK.slice(20, -2), OK.slice(-2)]} | ${['200 hello']}
    ${[...OK]}                                           | ${['200 hello']}
    ${['HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n']}  | ${['200 ']}
    ${[OK.slice(0, -1)]}                                 | ${[]}
  `('parses $pieces', ({ pieces, answers }) => {
    expect(read(pieces)).toEqual(answers);
  });

  it('discards bodies unless requested, except those of errors', () => {
    expect(read([OK, REFUSED], false)).toEqual(['200 ', '400 no']);
  });

  it('rejects a response without a detectable end', () => {
    expect(() => read(['HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n'])).toThrow('no length');
  });
});
