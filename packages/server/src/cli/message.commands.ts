import { normalizeTopic, topicKey } from '@parley/domain/channels';
import { StripFiles, SweepFiles } from '@parley/domain/files';
import type { MessageId } from '@parley/domain/kernel';
import { IndexMessages } from '@parley/domain/messages';
import { RestoreMessages } from '@parley/domain/writing';
import { sqliteOf } from '../configuration/configuration.js';
import { counted } from '../kernel/counted.js';
import { StartupError, UsageError } from '../kernel/startup-error.js';
import { isNewDatabase, locationOf } from '../start/files-location.js';
import { filesStateOf, identityOf, SHARED_ADVICE, splitFiles } from '../start/files-mark.js';
import { type Command, timeIn } from './command.js';
import { channelIn, nameOf, realmCommand, serverCommand } from './command-subjects.js';
import { NEW_DATABASE, requireDatabase, withParley } from './databases.js';

export const MESSAGE_COMMANDS: readonly Command[] = [
  realmCommand({
    name: 'message restore',
    help: 'restores deleted messages by time of deletion, channel, topic or id',
    details: '--keep-deleted sets how long deleted messages are kept.',
    flags: {
      channel: { value: 'NAME', help: 'only messages in this channel' },
      topic: { value: 'NAME', help: 'only messages with this topic in the channel' },
      message: { value: 'ID', help: 'only this message' },
      since: { value: 'DATE', help: 'only messages deleted at or after this time' },
      'dry-run': { help: 'only counts them' },
    },
    examples: [
      'parley message restore --channel general --topic plans',
      'parley message restore --since 2026-07-31T12:00Z --dry-run',
    ],
    input(context) {
      const [channel, topic, message, time] = ['channel', 'topic', 'message', 'since'].map(context.flag);
      if (channel === undefined && message === undefined && time === undefined) {
        throw new UsageError('Select messages with --channel, --message or --since.');
      }
      if (topic !== undefined && channel === undefined) throw new UsageError('--topic needs --channel.');
      if (message !== undefined && !/^[1-9]\d{0,9}$/.test(message)) throw new UsageError('--message must be an id.');
      return {
        messageId: message === undefined ? null : (Number(message) as MessageId),
        topicKey: topic === undefined ? null : topicKey(normalizeTopic(topic)),
        since: timeIn(context, 'since'),
      };
    },
    async run({ parley, realm, ...context }, selected) {
      const selection = { ...selected, channelId: await channelIn(parley, context, realm) };
      const isDryRun = context.isOn('dry-run');
      const count = await parley.useCase(RestoreMessages).execute({ realmId: realm.id, selection, isDryRun });
      return {
        lines: [`${isDryRun ? 'Would restore' : 'Restored'} ${count} deleted messages in ${nameOf(realm)}`],
        data: { count, dryRun: isDryRun },
      };
    },
  }),
  serverCommand({
    name: 'search rebuild',
    help: 'rebuilds the search index, newest messages first; the server may be running',
    examples: ['parley search rebuild'],
    async run({ parley: { useCase } }) {
      const index = useCase(IndexMessages);
      await index.reset();
      while (await index.execute());
      return { lines: ['The search index is complete.'], data: {} };
    },
  }),
];

export const FILE_COMMANDS: readonly Command[] = [
  serverCommand({
    name: 'file sweep',
    help: 'removes unused files and orphaned blobs now instead of waiting for the server',
    flags: { 'dry-run': { help: 'only counts them' } },
    examples: ['parley file sweep --dry-run'],
    async input({ invocation }) {
      requireDatabase(invocation);
      const { configuration } = invocation;
      const { database } = configuration;
      if (database.kind === 'sqlite' && !isNewDatabase(configuration)) {
        const state = await filesStateOf(configuration, identityOf(database.path));
        if (state === 'shared') throw new StartupError(`Nothing is removed: ${SHARED_ADVICE}.`);
      }
    },
    async run({ parley, invocation, isOn }) {
      const isDryRun = isOn('dry-run');
      const keepDetachedSeconds = invocation.configuration.keepDeletedDays * 86_400;
      const swept = await parley.useCase(SweepFiles).execute({ keepDetachedSeconds, isDryRun });
      const what = `${counted(swept.files, 'file')}, ${counted(swept.uploads, 'unfinished upload')} and ${counted(swept.blobs, 'blob')}`;
      const line = isDryRun ? `Would remove ${what} (files and uploads are counted up to 500)` : `Removed ${what}`;
      return { lines: [line], data: { ...swept, isDryRun } };
    },
  }),
  serverCommand({
    name: 'file strip',
    help: 'removes place, camera and other metadata from pictures and videos that are stored already; the server may be running',
    details: [
      'Organizations with keep_file_metadata and files of legal holds stay as they are. An interrupted command is repeated.',
      'Backups, exports and earlier versions in a bucket still contain the originals.',
    ].join('\n'),
    flags: { 'dry-run': { help: 'only counts them' } },
    examples: ['parley file strip --dry-run'],
    async run({ parley: { useCase }, isOn }) {
      const isDryRun = isOn('dry-run');
      const result = await useCase(StripFiles).execute({ isDryRun });
      const { files, cleaned, held, missing } = result;
      return {
        lines: [
          `${isDryRun ? 'Would clean' : 'Cleaned'} ${cleaned} of ${counted(files, 'file')}`,
          ...(held > 0 ? [`Legal holds keep ${counted(held, 'file')} with metadata.`] : []),
          ...(missing > 0
            ? [`The content of ${counted(missing, 'file')} is missing; see parley doctor --thorough.`]
            : []),
        ],
        data: { ...result, isDryRun },
      };
    },
  }),
  {
    name: 'file adopt',
    help: 'makes the location of files belong to this database, for example after a restore',
    details:
      'No server may use the database that the location belonged to, because both would remove files of the other.',
    flags: NEW_DATABASE,
    examples: ['parley file adopt'],
    async run({ invocation }) {
      const { configuration } = invocation;
      await withParley(invocation, async () => {}, { adoptsFiles: true });
      return {
        lines: [`${locationOf(configuration)} belongs to this database now.`],
        data: { files: configuration.files },
      };
    },
  },
  {
    name: 'file split',
    help: 'copies the files of a database from a shared folder into a folder of its own',
    details: [
      'For databases of older releases in one folder, which share the folder "files". No server may use the database meanwhile.',
      'The new folder has the name of the database, such as parley.db.files. The command can be repeated. It removes nothing.',
    ].join('\n'),
    examples: ['parley file split --database sqlite:/var/lib/parley/second.db'],
    async run({ invocation }) {
      requireDatabase(invocation);
      const { configuration } = invocation;
      const { path } = sqliteOf(configuration, 'parley file split', ' Each database has its own bucket.');
      if (configuration.files !== null) throw new UsageError('parley file split takes no PARLEY_FILES.');
      const { folder, copied, missing } = await splitFiles(configuration, path);
      return {
        lines: [
          `Copied ${counted(copied, 'file')} to ${folder}, which belongs to this database now. Start its server again.`,
          ...(missing.length > 0
            ? [`The content of ${counted(missing.length, 'file')} is missing; see parley doctor --thorough.`]
            : []),
        ],
        data: { folder, copied, missing: missing.length },
      };
    },
  },
];
