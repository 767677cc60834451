import type { Actor } from '../access/actor.js';
import { DomainError } from '../kernel/errors.js';
import { wholeRealm } from '../kernel/event.js';
import type { Caller } from '../kernel/ids.js';
import { enforce } from '../kernel/permission.js';
import type { Repositories, Transaction, UnitOfWork } from '../kernel/unit-of-work.js';
import { canAddCustomEmoji, canOverrideDefaultEmoji, canRemoveCustomEmoji } from '../realms/realm-permissions.js';
import { type CustomEmoji, emojiExists, emojiTargets, parseEmojiName, requireRoomForEmoji } from './custom-emoji.js';
import { findEmoji, type LoadUnicodeEmoji } from './emoji.js';
import { bytesOf, type ImageProcessor, type ImageUpload, requireOneImage } from './images.js';
import { type MadePicture, namePicture, PictureMaker } from './pictures.js';

/** Lists all custom emoji of the organization by ascending id, including deactivated ones (organization §7). */
export class ListCustomEmoji {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  execute({ realmId }: Caller): Promise<readonly CustomEmoji[]> {
    return this.uow.read(realmId, ({ customEmoji }) => customEmoji.list(realmId));
  }
}

export interface AddCustomEmojiInput {
  /** Name as typed. */
  readonly name: string;
  /** Null if the request has no file or several files. */
  readonly image: ImageUpload | null;
}

/** Adds a custom emoji to the organization (organization §7). */
export class AddCustomEmoji {
  static readonly inject = ['unitOfWork', 'unicodeEmoji', 'imageProcessor', PictureMaker] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly unicodeEmoji: LoadUnicodeEmoji,
    private readonly images: ImageProcessor,
    private readonly pictures: PictureMaker,
  ) {}

  /**
   * @throws DomainError EMOJI_NAME_MISSING, INVALID_EMOJI_NAME, MUST_NOT_BE_GUEST, NOT_PERMITTED, CUSTOM_EMOJI_EXISTS,
   * ONE_IMAGE_REQUIRED, CANNOT_OVERRIDE_EMOJI, TOO_MANY_CUSTOM_EMOJI, IMAGE_FILE_TOO_LARGE, UNREADABLE_IMAGE, IMAGE_TOO_LARGE,
   * CORRUPT_ANIMATION, UNKNOWN_ANIMATION_FORMAT
   */
  async execute(caller: Caller, input: AddCustomEmojiInput): Promise<CustomEmoji> {
    const name = parseEmojiName(input.name);
    const image = await this.uow.read(caller.realmId, async (reads) => {
      await this.requireAllowed(reads, await reads.actors.get(caller), name, input.image);
      return requireOneImage(input.image, 'file');
    });
    const bytes = bytesOf(image);
    return this.pictures.make(caller, bytes, emojiTargets(await this.images.inspect(bytes, caller)), (made) =>
      this.uow.write(caller.realmId, async (tx) => {
        const actor = await tx.actors.get(caller);
        await this.requireAllowed(tx, actor, name, image);
        return addEmoji(tx, actor, name, made);
      }),
    );
  }

  /** Runs before the image is processed and again before the emoji is added. */
  private async requireAllowed(
    { realms, customEmoji }: Pick<Repositories, 'realms' | 'customEmoji'>,
    actor: Actor,
    name: string,
    image: ImageUpload | null,
  ): Promise<void> {
    const { realmId } = actor;
    enforce(canAddCustomEmoji(actor, await realms.get(realmId)));
    if ((await customEmoji.listByName(realmId, [name])).length > 0) throw emojiExists();
    requireOneImage(image, 'file');
    const isDefaultName = findEmoji({ unicode: this.unicodeEmoji(), custom: [] }, name) !== null;
    enforce(canOverrideDefaultEmoji(actor, isDefaultName));
    requireRoomForEmoji(await customEmoji.count(realmId));
  }
}

async function addEmoji(
  tx: Transaction,
  { realmId, id: authorId }: Actor,
  name: string,
  [picture, still]: readonly MadePicture[],
): Promise<CustomEmoji> {
  const { format, frames } = picture!;
  const emoji = await tx.customEmoji.add({
    ...{ realmId, name, authorId, format },
    isAnimated: frames > 1,
    isDeactivated: false,
  });
  await namePicture(tx, realmId, `emoji/${emoji.id}`, picture!);
  if (still) await namePicture(tx, realmId, `emoji/${emoji.id}/still`, still);
  await tx.events.append(realmId, { event: { type: 'custom_emoji.added', emoji }, audience: wholeRealm });
  return emoji;
}

/** Deactivates a custom emoji (organization §7). Existing messages keep it. */
export class DeactivateCustomEmoji {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** @throws DomainError UNKNOWN_CUSTOM_EMOJI, NOT_EMOJI_AUTHOR */
  execute(caller: Caller, { name }: { readonly name: string }): Promise<void> {
    return this.uow.write(caller.realmId, async (tx) => {
      const actor = await tx.actors.get(caller);
      const [emoji] = await tx.customEmoji.listByName(actor.realmId, [name]);
      if (!emoji) throw new DomainError('UNKNOWN_CUSTOM_EMOJI', `Emoji '${name}' does not exist`);
      enforce(canRemoveCustomEmoji(actor, emoji.authorId));
      await tx.customEmoji.update({ ...emoji, isDeactivated: true });
      await tx.events.append(actor.realmId, {
        event: { type: 'custom_emoji.deactivated', id: emoji.id },
        audience: wholeRealm,
      });
    });
  }
}
