import { deflateSync } from 'node:zlib';
import { pngChunk } from '@parley/http';

/** Creates a black PNG. `isDamaged`: valid header with invalid pixel data. */
export function pngOf(width: number, height: number, isDamaged = false): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 0, 0, 0, 0], 8);
  const pixels = isDamaged ? Buffer.alloc(20, 1) : deflateSync(Buffer.alloc((width + 1) * height));
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([
    signature,
    pngChunk('IHDR', header),
    pngChunk('IDAT', pixels),
    pngChunk('IEND', Buffer.alloc(0)),
  ]);
}
