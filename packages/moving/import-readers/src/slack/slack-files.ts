import type { FileRecord } from '@parley/transfer/records';
import type { Archive } from '../archive.js';
import { flagOf, numberOf, present, textOf, timeOf } from '../fields.js';

/** Files in the export by id. Slack exports only URLs; slackdump downloads the files. */
export function localFiles(archive: Archive): ReadonlyMap<string, string> {
  const paths = new Map<string, string>();
  for (const name of archive.names) {
    const id = LOCAL_FILE.exec(name)
      ?.slice(1)
      .find((each) => each !== undefined);
    if (id !== undefined && !paths.has(id)) paths.set(id, name);
  }
  return paths;
}

/**
 * Layouts of slackdump for Mattermost and its standard one, the folder of slack-advanced-exporter, and the dump folder of
 * slackdump.
 */
const LOCAL_FILE =
  /^__uploads\/([A-Z0-9]+)\/[^/]+$|^[^/]+\/attachments\/([A-Z0-9]+)-[^/]+$|^(?:[^/]+\/)?__uploads\/([A-Z0-9]+)\/[^/]+$|^[CDG][A-Z0-9]+\/(F[A-Z0-9]+)-[^/]+$/;

/** Slack removes the files of other people's workspaces, and those beyond the limits of its free plan. */
const MISSING: Readonly<Record<string, string>> = {
  tombstone: 'deleted in Slack',
  hidden_by_limit: "hidden by the limits of Slack's free plan",
  access_denied: 'not accessible to the export',
  file_not_found: 'not found by Slack',
  slack_connect: 'in another organization of Slack Connect',
};

/** True for a link to a file elsewhere, such as Google Drive. */
export const isExternalFile = (file: unknown): boolean =>
  flagOf(file, 'is_external') || textOf(file, 'mode') === 'external';

/** Id of a file, empty without one. A deleted file gets another one, so that newer exports change its messages. */
export function fileId(file: unknown): string {
  const id = textOf(file, 'id');
  return id !== '' && textOf(file, 'mode') === 'tombstone' ? `${id}/deleted` : id;
}

/** Name of a file as shown in Slack. */
export const fileName = (file: unknown): string => textOf(file, 'name') || textOf(file, 'title') || 'file';

export function fileRecord(source: string, file: unknown, paths: ReadonlyMap<string, string>): FileRecord {
  const size = numberOf(file, 'size');
  return {
    source,
    kind: 'file',
    id: fileId(file),
    name: fileName(file),
    ...present({
      contentType: textOf(file, 'mimetype'),
      size: size !== null && size >= 0 ? size : undefined,
      createdAt: timeOf(numberOf(file, 'timestamp') ?? numberOf(file, 'created')),
      owner: textOf(file, 'user'),
    }),
    ...locationOf(file, paths.get(textOf(file, 'id'))),
  };
}

function locationOf(file: unknown, path: string | undefined): Pick<FileRecord, 'path' | 'url' | 'missing'> {
  if (path !== undefined) return { path };
  const reason = MISSING[textOf(file, 'mode')] ?? MISSING[textOf(file, 'file_access')];
  const url = textOf(file, 'url_private_download') || textOf(file, 'url_private');
  if (reason !== undefined) return { missing: reason };
  return url.startsWith('https://') ? { url } : { missing: 'without a URL in the export' };
}
