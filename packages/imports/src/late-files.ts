import type { LateFile, LateMessage } from '@parley/domain/exports';
import { type FileRecord, fileReferences, linkTo, literal, type OpenImport } from '@parley/domain/imports';
import { isDownloaded } from './downloads.js';
import type { Staging } from './staging.js';

/** Lists the messages with downloaded files, by time. */
export async function* lateMessages(staging: Staging, opened: OpenImport): AsyncGenerator<LateMessage> {
  for (const { record } of staging.messages()) {
    const files = fileReferences(record).flatMap(({ id, label }) => {
      const file = staging.find('file', id)?.record;
      return file?.path !== undefined && isDownloaded(file.path) ? [lateFile(file, file.path, label, opened)] : [];
    });
    if (files.length > 0) yield { recordId: record.id, files };
  }
}

function lateFile({ id, name, contentType }: FileRecord, path: string, label: string | undefined, opened: OpenImport) {
  const shown = label ?? name;
  return {
    recordId: id,
    name,
    contentType: contentType ?? 'application/octet-stream',
    open: () => opened.openFile(path),
    link: (content, target) => linkInstead(content, shown, target),
  } satisfies LateFile;
}

/** Private-use character in place of the reason. */
const REASON = '\uE000';

/** Replaces the last note about a missing file, such as `plan.pdf (not downloaded)`, by a link. */
export function linkInstead(content: string, label: string, path: string): string | null {
  const [start, end] = literal(`${label} (${REASON})`)
    .split(REASON)
    .map((text) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')) as [string, string];
  const note = [...content.matchAll(new RegExp(`${start}[^()\n]*${end}`, 'g'))].at(-1);
  if (!note) return null;
  return content.slice(0, note.index) + linkTo(label, path) + content.slice(note.index + note[0].length);
}
