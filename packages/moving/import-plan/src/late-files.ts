import { nameOfFile } from '@parley/domain/files';
import type { LateFile, LateMessage } from '@parley/transfer/imports';
import {
  beginningOf,
  type FileRecord,
  fileReferences,
  isTooLong,
  linkTo,
  literal,
  type OpenImport,
} from '@parley/transfer/records';
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
  const shown = label ?? nameOfFile(name);
  return {
    recordId: id,
    name,
    contentType: contentType ?? 'application/octet-stream',
    open: () => opened.openFile(path),
    link: (content, target) => linkInstead(content, shown, target),
    append: (content, target) => {
      const link = linkTo(shown, target);
      return isTooLong(content, link.length) ? null : beginningOf(content, link, link.length);
    },
  } satisfies LateFile;
}

/** Private-use character in place of a part that varies. */
const VARIABLE = '\uE000';

const patternOf = (text: string, variable: string): string =>
  text
    .split(VARIABLE)
    .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))
    .join(variable);

/** Pattern of notes about a missing file, such as `plan.pdf (not downloaded)`. */
const notePattern = (label: string): string => patternOf(literal(`${label} (${VARIABLE})`), '[^()\\n]*');

/** Replaces the last note about a missing file, such as `plan.pdf (not downloaded)`, by a link. */
export function linkInstead(content: string, label: string, path: string): string | null {
  const note = [...content.matchAll(new RegExp(notePattern(label), 'g'))].at(-1);
  if (!note) return null;
  return content.slice(0, note.index) + linkTo(label, path) + content.slice(note.index + note[0].length);
}

/** Replaces notes about missing files in a newer text by the links in the former text. `labels`: of these files. */
export function keepFileLinks(content: string, former: string, labels: readonly string[]): string {
  let kept = content;
  for (const label of new Set(labels)) {
    const link = patternOf(linkTo(label, VARIABLE), '/user_uploads/[^)\\s]*');
    const pattern = new RegExp(`${link}|${notePattern(label)}`, 'g');
    const before = former.match(pattern) ?? [];
    let index = 0;
    kept = kept.replace(pattern, (text) => {
      const other = before[index++];
      return other?.startsWith('[') && !text.startsWith('[') ? other : text;
    });
  }
  return kept;
}
