import { text } from 'node:stream/consumers';
import { fromBufferPromise } from 'yauzl';

/** Returns the files of a ZIP archive as texts, by name. */
export async function filesOfArchive(archive: Uint8Array): Promise<ReadonlyMap<string, string>> {
  const zip = await fromBufferPromise(Buffer.from(archive), { lazyEntries: true });
  const files = new Map<string, string>();
  for await (const entry of zip.eachEntry()) {
    files.set(entry.fileName, await text(await zip.openReadStreamPromise(entry)));
  }
  return files;
}
