import { type ImportBatch, type KeptMessage, UndoImport, type UndoImportOutput } from '@parley/domain/exports';
import type { ImportBatchId } from '@parley/domain/kernel';
import { UsageError } from '../kernel/startup-error.js';
import { always, type Command, type CommandContext, type CommandResult } from './command.js';
import { findRealm, nameOf, REALM } from './databases.js';
import { progressOn } from './progress.js';

const presentBatch = ({ id, source, startedAt, status, createdRealm, messages }: ImportBatch) => ({
  ...{ id, source, status, createdOrganization: createdRealm, messages },
  startedAt: new Date(startedAt * 1000).toISOString(),
});

async function list(context: CommandContext): Promise<CommandResult> {
  return context.withParley(async (parley) => {
    const realm = await findRealm(parley, context.flag('realm'));
    const batches = await parley.ports.unitOfWork.read(realm.id, (reads) => reads.importBatches.list(realm.id));
    const presented = batches.map(presentBatch);
    return {
      lines:
        presented.length === 0
          ? [`${nameOf(realm)} has no imports.`]
          : presented.map(
              ({ id, startedAt, source, status, messages }) =>
                `${id}\t${startedAt}\t${source}\t${status}\t${messages} messages`,
            ),
      data: { imports: presented },
    };
  });
}

async function undo(context: CommandContext): Promise<CommandResult> {
  const batchId = Number(context.words[0]);
  if (!Number.isSafeInteger(batchId)) throw new UsageError('BATCH must be a number; see parley imports list.');
  context.terminal.comeAfterServer();
  return context.withParley(async (parley) => {
    const realm = await findRealm(parley, context.flag('realm'));
    const isDryRun = context.isOn('dry-run');
    const undone = await parley.useCase(UndoImport).execute({
      realmId: realm.id,
      batchId: batchId as ImportBatchId,
      isForced: context.isOn('force'),
      isDryRun,
      onProgress: progressOn(context.terminal, 'Removed'),
    });
    const lines = isDryRun
      ? [...undoLines(undone, nameOf(realm)), 'Nothing was changed.']
      : undoLines(undone, nameOf(realm));
    return { lines, data: undone };
  });
}

/** Maximum number of kept messages in the text. */
const MAX_LISTED = 50;

function undoLines({ removesRealm, removed, kept, keptMessages, archivedChannels }: UndoImportOutput, realm: string) {
  const removals = `Removes ${removed} messages`;
  if (removesRealm) return [`${removals} with the organization ${realm}, which nobody used since the import.`];
  const more = kept > MAX_LISTED ? [`  and ${kept - MAX_LISTED} more`] : [];
  return [
    `${removals} from ${realm}; archived channels without messages: ${archivedChannels}`,
    ...(kept === 0 ? [] : [`Keeps ${kept} messages that people used since the import; --force removes them:`]),
    ...keptMessages.slice(0, MAX_LISTED).map(keptLine),
    ...more,
  ];
}

const keptLine = ({ id, reason, channelId, topic }: KeptMessage): string =>
  `  ${id}: ${reason}, ${channelId === null ? 'direct message' : `channel ${channelId}, topic ${topic || '(general)'}`}`;

export const IMPORT_COMMANDS: readonly Command[] = [
  {
    name: 'imports list',
    help: 'lists the imports from other systems into an organization',
    details: 'Imports of archives of Parley and Zulip are not listed.',
    flags: REALM,
    examples: ['parley imports list --realm=acme'],
    isReadOnly: always,
    run: list,
  },
  {
    name: 'imports undo',
    words: 'BATCH',
    help: 'removes the messages of an import',
    details:
      'BATCH is a number of parley imports list. Messages that people answered, edited, moved or reacted to are listed ' +
      'and kept; a topic or direct conversation is answered by any later message. Channels without messages are ' +
      'archived. If the import created the organization and nobody used it, the organization is deleted. ' +
      'A killed command continues when it is repeated. The server may be running.',
    flags: {
      ...REALM,
      force: { help: 'also removes messages that people answered, edited, moved or reacted to' },
      'dry-run': { help: 'changes nothing and reports what would be removed' },
    },
    examples: ['parley imports undo 1 --realm=acme --dry-run', 'parley imports undo 1 --realm=acme'],
    run: undo,
  },
];
