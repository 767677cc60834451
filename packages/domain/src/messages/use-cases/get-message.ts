import type { Actor } from '../../access/actor.js';
import type { Caller } from '../../kernel/caller.js';
import type { MessageId } from '../../kernel/ids.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';
import type { Realm } from '../../realms/realm.js';
import { inaccessibleUserIds } from '../../users/accessible-users.js';
import { loadReadableWithFlags } from '../load-access.js';
import { HISTORICAL, type PersonalFlags } from '../message.js';
import type { MessageView } from '../message-view.js';

export interface GetMessageOutput {
  readonly viewer: Actor;
  readonly view: MessageView;
  readonly flags: PersonalFlags;
  readonly realm: Realm;
  /** Whether the caller may know who sent it. */
  readonly isSenderKnown: boolean;
}

/** One message (messages §6). */
export class GetMessage {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** @throws DomainError UNKNOWN_MESSAGE, for messages that are hidden as for those that do not exist. */
  execute(caller: Caller, { id }: { readonly id: MessageId }): Promise<GetMessageOutput> {
    return this.uow.read(async (repositories) => {
      const actor = await repositories.actors.get(caller);
      const loaded = await loadReadableWithFlags(repositories, actor, id);
      const [view] = await repositories.pages.listViews(actor.realmId, [id]);
      const realm = await repositories.realms.get(actor.realmId);
      const hiddenUserIds = await inaccessibleUserIds(repositories, actor, realm, [loaded.message.senderId]);
      const flags = loaded.flags ?? HISTORICAL;
      return { viewer: actor, view: view!, flags, realm, isSenderKnown: hiddenUserIds.size === 0 };
    });
  }
}
