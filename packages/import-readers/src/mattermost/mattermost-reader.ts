import type { Archive } from '../archive.js';
import { archiveReader, plainFiles } from '../archive-reader.js';
import { textOf } from '../fields.js';
import { jsonLines } from '../json-elements.js';
import { MattermostExport } from './mattermost-export.js';

/** Reads exports by `mmctl export create`. */
export const MATTERMOST_READER = archiveReader({
  name: 'mattermost',
  async recognizes(archive) {
    const file = linesFile(archive);
    if (file === null) return false;
    for await (const element of jsonLines(archive.read(file), file))
      return 'value' in element && textOf(element.value, 'type') === 'version';
    return false;
  },
  files: plainFiles,
  records: (archive) => new MattermostExport(archive, linesFile(archive) ?? 'import.jsonl').records(),
});

/** `mmctl` names it `import.jsonl`; other tools use other names. */
const linesFile = (archive: Archive): string | null =>
  archive.names.find((name) => name === 'import.jsonl') ??
  archive.names.find((name) => /^[^/]+\.jsonl$/.test(name)) ??
  null;
