import type { Archive } from '../archive.js';
import { archiveReader, plainFiles } from '../archive-reader.js';
import { textOf } from '../fields.js';
import { jsonLines } from '../json-elements.js';
import { MattermostExport } from './mattermost-export.js';

/** Reads exports by `mmctl export create` and `mattermost export bulk`. */
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

/** `mmctl` names it `import.jsonl`. Other tools use other names; the older `mattermost export bulk` takes any. */
const linesFile = (archive: Archive): string | null =>
  ['import.jsonl', /^[^/]+\.jsonl$/, /^[^/]+\.json$/]
    .map((wanted) => archive.names.find((name) => (typeof wanted === 'string' ? name === wanted : wanted.test(name))))
    .find((name) => name !== undefined) ?? null;
