import {
  AddCustomEmoji,
  type CustomEmoji,
  type CustomEmojiEventTypes,
  DeactivateCustomEmoji,
  emojiPath,
  ListCustomEmoji,
  loadCustomEmoji,
  type PictureName,
  ReadPicture,
  stillEmojiPath,
} from '@parley/domain/files';
import type { HttpFeature } from '../declarations/feature.js';
import { registerSection } from '../declarations/register-section.js';
import { type Route, route } from '../declarations/route.js';
import {
  can,
  type EventContext,
  form,
  formWithout,
  opened,
  type Presented,
  type Presenters,
} from '../delivery/event-presenter.js';
import { IntegerParam, NoParameters, TextParam } from '../params/params.js';
import { type Reply, unknownPath } from '../wire/reply.js';
import * as wire from '../wire/schema.js';
import { imageUpload, TAKES_IMAGE } from './images.js';
import { SERVES_PICTURES, servePicture } from './pictures.js';

/** Implements organization §7. */
export const oneCustomEmoji = wire.named(
  'CustomEmoji',
  wire.fields({
    id: wire.text(),
    name: wire.text(),
    source_url: wire.text(),
    still_url: wire.nullable(wire.text()),
    deactivated: wire.boolean(),
    author_id: wire.nullable(wire.integer()),
  }),
);

/** Custom emoji by id. */
export const customEmoji = wire.dictionaryOf(oneCustomEmoji);

/** Implements organization §7. */
export const presentCustomEmoji = (emoji: CustomEmoji) => ({
  id: String(emoji.id),
  name: emoji.name,
  source_url: emojiPath(emoji),
  still_url: stillEmojiPath(emoji),
  deactivated: emoji.isDeactivated,
  author_id: emoji.authorId,
});

export const presentAllCustomEmoji = (all: readonly CustomEmoji[]) =>
  Object.fromEntries(all.map((emoji) => [emoji.id, presentCustomEmoji(emoji)]));

/** Clients without this capability receive all emoji with each change (events §2). */
const CAPABILITY = 'individual_emoji_changes';

const ALL = formWithout(CAPABILITY, 'realm_emoji', { op: wire.oneOf('update'), realm_emoji: customEmoji });

function presentChange(context: EventContext, change: () => Readonly<Record<string, unknown>>): Presented {
  if (can(context.presentation, CAPABILITY)) {
    return context.shared('one', () => opened({ type: 'realm_emoji', ...change() }));
  }
  return context.shared('all', () =>
    opened({ type: 'realm_emoji', op: 'update', realm_emoji: presentAllCustomEmoji(context.receiver.customEmoji) }),
  );
}

/** Implements organization §7. */
export const CUSTOM_EMOJI_EVENTS = {
  'custom_emoji.added': {
    forms: [form('realm_emoji', { op: wire.oneOf('add'), emoji: oneCustomEmoji }), ALL],
    needs: () => ({ customEmoji: true }),
    present: ({ emoji }, context) => presentChange(context, () => ({ op: 'add', emoji: presentCustomEmoji(emoji) })),
  },
  'custom_emoji.deactivated': {
    forms: [
      form('realm_emoji', {
        op: wire.oneOf('update_one'),
        emoji_id: wire.text(),
        data: wire.fields({ deactivated: wire.boolean() }),
      }),
      ALL,
    ],
    needs: () => ({ customEmoji: true }),
    present: ({ id }, context) =>
      presentChange(context, () => ({ op: 'update_one', emoji_id: String(id), data: { deactivated: true } })),
  },
} satisfies Presenters<keyof CustomEmojiEventTypes>;

class EmojiNameDto {
  @TextParam({ max: 100 }) emoji_name!: string;
}

class EmojiPictureDto {
  @IntegerParam() realm_id!: number;
  @TextParam({ max: 100 }) file!: string;
}

const FILE = /^([1-9]\d{0,14})\.(png|gif|webp)$/;

export const customEmojiRoutes: readonly Route[] = [
  route('GET', '/realm/emoji', {
    summary: 'List custom emoji',
    section: 'organization §7',
    withoutPage: 'state',
    auth: 'user',
    scope: 'account',
    dto: NoParameters,
    useCase: ListCustomEmoji,
    response: wire.fields({ emoji: customEmoji }),
    present: (all) => ({ emoji: presentAllCustomEmoji(all) }),
  }),
  route('POST', '/realm/emoji/*emoji_name', {
    summary: 'Upload a custom emoji',
    section: 'organization §7',
    ...TAKES_IMAGE,
    auth: 'user',
    scope: 'account',
    roleRequirements: ['member'],
    dto: EmojiNameDto,
    useCase: AddCustomEmoji,
    toInput: ({ emoji_name }, request) => ({ name: emoji_name, image: imageUpload(request) }),
    response: wire.fields({}),
    present: () => ({}),
  }),
  route('DELETE', '/realm/emoji/*emoji_name', {
    summary: 'Deactivate a custom emoji',
    section: 'organization §7',
    auth: 'user',
    scope: 'account',
    dto: EmojiNameDto,
    useCase: DeactivateCustomEmoji,
    toInput: ({ emoji_name }) => ({ name: emoji_name }),
  }),
  picture('/user_avatars/:realm_id/emoji/images/:file', 'Get a custom emoji', (id) => `emoji/${id}`),
  picture(
    '/user_avatars/:realm_id/emoji/images/still/:file',
    'Get a custom emoji without animation',
    (id) => `emoji/${id}/still`,
  ),
];

function picture(path: string, summary: string, nameOf: (id: number) => PictureName): Route {
  return route('GET', path, {
    summary,
    section: 'organization §7',
    ...SERVES_PICTURES,
    dto: EmojiPictureDto,
    useCase: ReadPicture,
    response: 'bytes',
    handle: async ({ dto, caller, useCase }): Promise<Reply> => {
      const [, id, format] = FILE.exec(dto.file) ?? [];
      if (id === undefined || caller.realmId !== dto.realm_id) throw unknownPath();
      const found = await useCase.execute(caller, { name: nameOf(Number(id)) });
      if (found.format !== format) throw unknownPath();
      return servePicture(found);
    },
  });
}

export const CUSTOM_EMOJI = {
  tag: 'Organization',
  routes: () => customEmojiRoutes,
  events: CUSTOM_EMOJI_EVENTS,
  errors: { UNKNOWN_CUSTOM_EMOJI: { status: 404 } },
  registerSections: () => [
    registerSection({
      name: 'realm_emoji',
      fields: { realm_emoji: customEmoji },
      forSpectators: 'likeGuests',
      forTokens: 'likeAccount',
      load: (snapshot) => snapshot.load(loadCustomEmoji),
      present: (all) => ({ realm_emoji: presentAllCustomEmoji(all) }),
    }),
  ],
} satisfies HttpFeature;
