import type { ImportReader, ImportRecord, OpenImport } from '@parley/domain/imports';
import { type Archive, openArchive } from '../archive.js';
import { textOf } from '../fields.js';
import { jsonLines } from '../json-elements.js';
import { MattermostExport } from './mattermost-export.js';

/** Reads exports by `mmctl export create`: a ZIP, or a folder with the same files. */
export const MATTERMOST_READER: ImportReader = {
  name: 'mattermost',

  async recognizes(path) {
    const archive = await openArchive(path).catch(() => null);
    if (archive === null) return false;
    try {
      const file = linesFile(archive);
      return file !== null && (await isVersionFirst(archive, file));
    } catch {
      return false;
    } finally {
      await archive.close();
    }
  },

  async open(path): Promise<OpenImport> {
    const archive = await openArchive(path);
    const file = linesFile(archive) ?? 'import.jsonl';
    return {
      records: (): AsyncIterable<ImportRecord> => new MattermostExport(archive, file).records(),
      sizeOf: async (name) => (archive.has(name) ? archive.sizeOf(name) : null),
      openFile: async (name) => (archive.has(name) ? archive.read(name) : null),
      close: () => archive.close(),
    };
  },
};

/** `mmctl` names it `import.jsonl`; other tools use other names. */
const linesFile = (archive: Archive): string | null =>
  archive.names.find((name) => name === 'import.jsonl') ??
  archive.names.find((name) => /^[^/]+\.jsonl$/.test(name)) ??
  null;

async function isVersionFirst(archive: Archive, file: string): Promise<boolean> {
  for await (const element of jsonLines(archive.read(file), file))
    return 'value' in element && textOf(element.value, 'type') === 'version';
  return false;
}
