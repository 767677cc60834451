import { wholeRealm } from '../../kernel/audience.js';
import type { Caller } from '../../kernel/caller.js';
import { DomainError } from '../../kernel/errors.js';
import { enforce } from '../../kernel/permission.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';
import { canRemoveCustomEmoji } from '../../realms/realm-permissions.js';

/** Takes an emoji from what can be chosen (organization §7). What was said with it stays as it is. */
export class DeactivateCustomEmoji {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** @throws DomainError UNKNOWN_CUSTOM_EMOJI, NOT_EMOJI_AUTHOR */
  execute(caller: Caller, { name }: { readonly name: string }): Promise<void> {
    return this.uow.write(async (tx) => {
      const actor = await tx.actors.get(caller);
      const [emoji] = await tx.customEmoji.listByName(actor.realmId, [name]);
      if (!emoji) throw new DomainError('UNKNOWN_CUSTOM_EMOJI', `Emoji '${name}' does not exist`);
      enforce(canRemoveCustomEmoji(actor, emoji.authorId));
      await tx.customEmoji.deactivate(actor.realmId, emoji.id);
      await tx.events.append(actor.realmId, {
        event: { type: 'custom_emoji.deactivated', id: emoji.id },
        audience: wholeRealm,
      });
    });
  }
}
