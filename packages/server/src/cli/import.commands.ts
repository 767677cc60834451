import type { ImportBatch } from '@parley/domain/exports';
import { always, type Command, type CommandContext, type CommandResult } from './command.js';
import { findRealm, nameOf, REALM } from './databases.js';

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
];
