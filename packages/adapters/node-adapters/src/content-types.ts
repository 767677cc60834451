import type { ContentTypes } from '@parley/domain/files';
import mime from 'mime';

/**
 * Detects types by the file signatures and extensions known to libraries. The signature library is loaded on first use.
 */
export class FileTypeContentTypes implements ContentTypes {
  async ofBytes(head: Uint8Array): Promise<string | null> {
    const { fileTypeFromBuffer } = await import('file-type/core');
    try {
      const type = (await fileTypeFromBuffer(head))?.mime ?? null;
      return type === 'image/heif' ? codedHeif(head) : type;
    } catch {
      // Truncated or inconsistent bytes.
      return null;
    }
  }

  ofName(name: string): string | null {
    return mime.getType(name);
  }
}

/**
 * Detects the codec of a HEIF image. Many phones name the container first and the codec among the compatible brands.
 */
function codedHeif(head: Uint8Array): string {
  const length = Math.min(new DataView(head.buffer, head.byteOffset).getUint32(0), head.length);
  for (let at = 16; at + 4 <= length; at += 4) {
    const brand = String.fromCharCode(...head.subarray(at, at + 4));
    if (brand === 'heic' || brand === 'heix') return 'image/heic';
    if (brand === 'avif') return 'image/avif';
  }
  return 'image/heif';
}
