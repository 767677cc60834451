import type { ImportReader } from '@parley/transfer/records';
import { DISCORD_READER } from './discord/discord-reader.js';
import { MATTERMOST_READER } from './mattermost/mattermost-reader.js';
import { ROCKETCHAT_READER } from './rocketchat/rocketchat-reader.js';
import { SLACK_READER } from './slack/slack-reader.js';
import { TEAMS_READER } from './teams/teams-reader.js';

export { refuseZip } from './archive.js';
export { zulipSource } from './zulip/zulip-export.js';
export { zulipReader } from './zulip/zulip-reader.js';

/** Readers of other systems' exports, in the order in which they are tried. */
export const IMPORT_READERS: readonly ImportReader[] = [
  SLACK_READER,
  MATTERMOST_READER,
  ROCKETCHAT_READER,
  DISCORD_READER,
  TEAMS_READER,
];
