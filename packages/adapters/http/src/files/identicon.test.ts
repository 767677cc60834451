import { inflateSync } from 'node:zlib';
import { drawIdenticon } from './pictures.js';

/** Returns the palette index of each pixel of a PNG written by this server. */
function pixelsOf(picture: Buffer): { size: number; rows: number[][] } {
  const size = picture.readUInt32BE(16);
  const at = picture.indexOf('IDAT');
  const data = inflateSync(picture.subarray(at + 4, at + 4 + picture.readUInt32BE(at - 4)));
  const bytesPerRow = Math.ceil(size / 8) + 1;
  const rows = Array.from({ length: size }, (_, y) =>
    Array.from({ length: size }, (_, x) => (data[y * bytesPerRow + 1 + (x >> 3)]! >> (7 - (x & 7))) & 1),
  );
  return { size, rows };
}

describe('drawIdenticon', () => {
  it('returns a PNG of the requested size', () => {
    expect(drawIdenticon('1:7', 100).subarray(0, 8).toString('latin1')).toBe('\x89PNG\r\n\x1a\n');
    expect(pixelsOf(drawIdenticon('1:7', 100)).size).toBe(100);
    expect(pixelsOf(drawIdenticon('1:7', 500)).size).toBe(500);
  });

  it('ends with the standard PNG end chunk and its checksum', () => {
    expect(drawIdenticon('1:7', 100).subarray(-12).toString('hex')).toBe('0000000049454e44ae426082');
  });

  it('returns the same picture for equal seeds and different pictures for different seeds', () => {
    expect(drawIdenticon('1:7', 100)).toEqual(drawIdenticon('1:7', 100));
    expect(drawIdenticon('1:7', 100)).not.toEqual(drawIdenticon('1:8', 100));
  });

  it('returns a symmetric picture', () => {
    for (const seed of ['1:1', '1:2', '9:3']) {
      for (const row of pixelsOf(drawIdenticon(seed, 120)).rows) expect([...row].reverse()).toEqual(row);
    }
  });
});
