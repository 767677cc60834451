import { FileTypeContentTypes } from './content-types.js';

const types = new FileTypeContentTypes();
const bytes = (hex: string) => Buffer.from(hex, 'hex');

it.each([
  ['89504e470d0a1a0a0000000d49484452', 'image/png'],
  ['ffd8ffe000104a464946', 'image/jpeg'],
  ['255044462d312e37', 'application/pdf'],
  ['000000186674797068656963000000006d696631', 'image/heic'],
  ['00000018667479706d696631000000006d69663168656963', 'image/heic'],
  ['00000018667479706d696631000000006d69663161766966', 'image/avif'],
  ['00000018667479706d696631000000006d6966316a706567', 'image/heif'],
  ['ffffffff667479706d69663100000000', 'image/heif'],
  ['', null],
  ['00', null],
  ['3c68746d6c3e', null],
  // Truncated header.
  ['504b0304', 'application/zip'],
])('detects the bytes %s as %s', async (hex, type) => expect(await types.ofBytes(bytes(hex))).toBe(type));

it.each([
  ['a.csv', 'text/csv'],
  ['A.HTML', 'text/html'],
  ['a', null],
  ['', null],
  ['.', null],
  ['../x.unknown-ending', null],
])('maps the file name %j to %s', (name, type) => expect(types.ofName(name)).toBe(type));

it('reads only the given bytes regardless of their content', async () => {
  for (let first = 0; first < 256; first++) {
    await types.ofBytes(Buffer.alloc(4100, first));
    await types.ofBytes(Buffer.concat([bytes('3026b2758e66cf11a6d9'), Buffer.alloc(4090, first)]));
  }
});
