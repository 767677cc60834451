import { normalizeTopic, topicKey } from '@parley/domain/channels';
import { SweepFiles } from '@parley/domain/files';
import type { MessageId } from '@parley/domain/kernel';
import { IndexMessages, RestoreMessages } from '@parley/domain/messages';
import { counted } from '../kernel/counted.js';
import { StartupError, UsageError } from '../kernel/startup-error.js';
import { locationOf } from '../start/open-parley.js';
import type { Command, CommandContext, CommandResult } from './command.js';
import { findRealm, nameOf, REALM, withParley } from './databases.js';

async function restore(context: CommandContext): Promise<CommandResult> {
  const [channelName, topic, message, since] = ['channel', 'topic', 'message', 'since'].map(context.flag);
  if (channelName === undefined && message === undefined && since === undefined) {
    throw new UsageError('Select messages with --channel, --message or --since.');
  }
  if (topic !== undefined && channelName === undefined) throw new UsageError('--topic needs --channel.');
  if (message !== undefined && !/^[1-9]\d{0,9}$/.test(message)) throw new UsageError('--message must be an id.');
  const sinceMs = since === undefined ? null : Date.parse(since);
  if (Number.isNaN(sinceMs)) throw new UsageError('--since must be a date such as 2026-07-31 or 2026-07-31T12:00Z.');
  return context.withParley(async (parley) => {
    const realm = await findRealm(parley, context);
    const channel =
      channelName === undefined
        ? null
        : await parley.ports.unitOfWork.read(realm.id, ({ channels }) => channels.findByName(realm.id, channelName));
    if (channelName !== undefined && !channel) throw new StartupError(`There is no channel ${channelName}.`);
    const isDryRun = context.isOn('dry-run');
    const count = await parley.useCase(RestoreMessages).execute({
      realmId: realm.id,
      selection: {
        messageId: message === undefined ? null : (Number(message) as MessageId),
        channelId: channel?.id ?? null,
        topicKey: topic === undefined ? null : topicKey(normalizeTopic(topic)),
        since: sinceMs === null ? null : Math.floor(sinceMs / 1000),
      },
      isDryRun,
    });
    return {
      lines: [`${isDryRun ? 'Would restore' : 'Restored'} ${count} deleted messages in ${nameOf(realm)}`],
      data: { count, dryRun: isDryRun },
    };
  });
}

async function rebuildSearch(context: CommandContext): Promise<CommandResult> {
  return context.withParley(async ({ useCase }) => {
    const index = useCase(IndexMessages);
    await index.reset();
    while (await index.execute());
    return { lines: ['The search index is complete.'], data: {} };
  });
}

export const MESSAGE_COMMANDS: readonly Command[] = [
  {
    name: 'message restore',
    help: 'restores deleted messages by time of deletion, channel, topic or id',
    details: '--keep-deleted sets how long deleted messages are kept.',
    flags: {
      ...REALM,
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
    run: restore,
  },
  {
    name: 'search rebuild',
    help: 'rebuilds the search index, newest messages first; the server may be running',
    examples: ['parley search rebuild'],
    run: rebuildSearch,
  },
];

async function sweep({ invocation, isOn, withParley }: CommandContext): Promise<CommandResult> {
  return withParley(async ({ useCase }) => {
    const isDryRun = isOn('dry-run');
    const keepDetachedSeconds = invocation.configuration.keepDeletedDays * 86_400;
    const swept = await useCase(SweepFiles).execute({ keepDetachedSeconds, isDryRun });
    const what = `${counted(swept.files, 'file')}, ${counted(swept.uploads, 'unfinished upload')} and ${counted(swept.blobs, 'blob')}`;
    const line = isDryRun ? `Would remove ${what} (files and uploads are counted up to 500)` : `Removed ${what}`;
    return { lines: [line], data: { ...swept, isDryRun } };
  });
}

async function adopt({ invocation }: CommandContext): Promise<CommandResult> {
  const { files } = invocation.configuration;
  if (files === null) throw new StartupError('The folder of files beside the database always belongs to it.');
  await withParley(invocation, async () => {}, { adoptsFiles: true });
  return { lines: [`${locationOf(files)} belongs to this database now.`], data: { files } };
}

export const FILE_COMMANDS: readonly Command[] = [
  {
    name: 'file sweep',
    help: 'removes unused files and orphaned blobs now instead of waiting for the server',
    flags: { 'dry-run': { help: 'only counts them' } },
    examples: ['parley file sweep --dry-run'],
    run: sweep,
  },
  {
    name: 'file adopt',
    help: 'makes the location of files belong to this database, for example after a restore',
    details:
      'No server may use the database that the location belonged to, because both would remove files of the other.',
    examples: ['parley file adopt'],
    run: adopt,
  },
];
