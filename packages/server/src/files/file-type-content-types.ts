import type { ContentTypes } from '@parley/domain/files';
import mime from 'mime';

/** By the signatures and name endings that libraries know. Signatures are loaded with the first file. */
export class FileTypeContentTypes implements ContentTypes {
  async ofBytes(head: Uint8Array): Promise<string | null> {
    const { fileTypeFromBuffer } = await import('file-type/core');
    try {
      return (await fileTypeFromBuffer(head))?.mime ?? null;
    } catch {
      // Bytes that break off where their format goes on, or lie about themselves.
      return null;
    }
  }

  ofName(name: string): string | null {
    return mime.getType(name);
  }
}
