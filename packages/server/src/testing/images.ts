import { deflateSync } from 'node:zlib';

/** Two frames of 2 × 2 pixels. */
export const ANIMATED_GIF = Buffer.from(
  'R0lGODlhAgACAIAAAExpcf///yH5BAUAAAAALAAAAAACAAIAAAICjFMAIfkEBQAAAAAsAAAAAAIAAgCATGlxAAAAAgKMUwA7',
  'base64',
);

/** 3 × 2 pixels. */
export const TIFF = Buffer.from(
  'SUkqABoAAABkZGRkZGRkZGRkZGRkZGRkZGQPAAABAwABAAAAAwAAAAEBAwABAAAAAgAAAAIBAwADAAAA5AAAAAMBAwABAAAAAQAAAAYBAwABAAAAAgAAABEB' +
    'BAABAAAACAAAABIBAwABAAAAAQAAABUBAwABAAAAAwAAABYBAwABAAAAAgAAABcBBAABAAAAEgAAABoBBQABAAAA1AAAABsBBQABAAAA3AAAABwBAwABAAAA' +
    'AQAAACgBAwABAAAAAgAAAFMBAwADAAAA6gAAAAAAAAAzM8sAAAAIADMzywAAAAgACAAIAAgAAQABAAEA',
  'base64',
);

/** All black. `isDamaged`: its header is valid, its pixel data are not. */
export function pngOf(width: number, height: number, isDamaged = false): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 0, 0, 0, 0], 8);
  const pixels = isDamaged ? Buffer.alloc(20, 1) : deflateSync(Buffer.alloc((width + 1) * height));
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([signature, chunk('IHDR', header), chunk('IDAT', pixels), chunk('IEND', Buffer.alloc(0))]);
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const framed = Buffer.alloc(body.length + 8);
  framed.writeUInt32BE(data.length, 0);
  framed.set(body, 4);
  framed.writeUInt32BE(crc32(body), body.length + 4);
  return framed;
}

/** Node has its own from version 22 on. */
function crc32(data: Buffer): number {
  let crc = 0xffffffff;
  for (const byte of data) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return (crc ^ 0xffffffff) >>> 0;
}
