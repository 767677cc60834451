import type { ImportReader, ImportRecord, OpenImport } from '@parley/domain/imports';
import { type Archive, openArchive } from '../archive.js';
import { SlackExport } from './slack-export.js';

/** Reads Slack's exports, also of Enterprise organizations, and exports by slackdump: ZIPs or folders. */
export const SLACK_READER: ImportReader = {
  name: 'slack',

  async recognizes(path) {
    const archive = await openArchive(path).catch(() => null);
    if (archive === null) return false;
    await archive.close();
    return isSlackExport(archive);
  },

  async open(path): Promise<OpenImport> {
    const archive = await openArchive(path);
    return {
      records: (): AsyncIterable<ImportRecord> => new SlackExport(archive).records(),
      sizeOf: async (name) => (archive.has(name) ? archive.sizeOf(name) : null),
      openFile: async (name) => (archive.has(name) ? archive.read(name) : null),
      close: () => archive.close(),
    };
  },
};

const DAY = /^[^/]+\/\d{4}-\d\d-\d\d\.json$/;

const isSlackExport = (archive: Archive): boolean =>
  (archive.has('users.json') || archive.has('org_users.json')) &&
  (['channels.json', 'groups.json', 'dms.json', 'mpims.json'].some((name) => archive.has(name)) ||
    archive.names.some((name) => DAY.test(name)));
