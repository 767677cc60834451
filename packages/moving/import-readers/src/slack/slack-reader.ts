import { archiveReader, plainFiles } from '../archive-reader.js';
import { isDumpFile } from './slack-dump.js';
import { SlackExport } from './slack-export.js';

const DAY = /^[^/]+\/\d{4}-\d\d-\d\d\.json$/;

/** Reads Slack's exports, also of Enterprise organizations, and exports and dump folders by slackdump. */
export const SLACK_READER = archiveReader({
  name: 'slack',
  tokenHosts: ['slack.com'],
  recognizes: (archive) =>
    archive.names.some(isDumpFile) ||
    ((archive.has('users.json') || archive.has('org_users.json')) &&
      (['channels.json', 'groups.json', 'dms.json', 'mpims.json'].some((name) => archive.has(name)) ||
        archive.names.some((name) => DAY.test(name)))),
  files: plainFiles,
  records: (archive) => new SlackExport(archive).records(),
});
