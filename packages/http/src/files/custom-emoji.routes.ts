import {
  AddCustomEmoji,
  DeactivateCustomEmoji,
  ListCustomEmoji,
  type PictureName,
  ReadPicture,
} from '@parley/domain/files';
import { unknownPath } from '../kernel/errors.js';
import { IntegerParam, NoParameters, TextParam } from '../kernel/params.js';
import type { Reply } from '../kernel/reply.js';
import { type Route, route } from '../kernel/route.js';
import * as wire from '../kernel/wire-schema.js';
import { customEmoji } from './custom-emoji.answers.js';
import { presentAllCustomEmoji } from './custom-emoji.presenters.js';
import { givenImage, TAKES_IMAGE } from './given-image.js';
import { SERVES_PICTURES, servePicture } from './serve-picture.js';

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
    auth: 'user',
    dto: NoParameters,
    useCase: ListCustomEmoji,
    answer: wire.fields({ emoji: customEmoji }),
    present: (all) => ({ emoji: presentAllCustomEmoji(all) }),
  }),
  route('POST', '/realm/emoji/*emoji_name', {
    ...TAKES_IMAGE,
    auth: 'user',
    roleRequirements: ['member'],
    dto: EmojiNameDto,
    useCase: AddCustomEmoji,
    toInput: ({ emoji_name }, request) => ({ name: emoji_name, image: givenImage(request) }),
    answer: wire.fields({}),
    present: () => ({}),
  }),
  route('DELETE', '/realm/emoji/*emoji_name', {
    auth: 'user',
    dto: EmojiNameDto,
    useCase: DeactivateCustomEmoji,
    toInput: ({ emoji_name }) => ({ name: emoji_name }),
  }),
  picture('/user_avatars/:realm_id/emoji/images/:file', (id) => `emoji/${id}`),
  picture('/user_avatars/:realm_id/emoji/images/still/:file', (id) => `emoji/${id}/still`),
];

function picture(path: string, nameOf: (id: number) => PictureName): Route {
  return route('GET', path, {
    ...SERVES_PICTURES,
    dto: EmojiPictureDto,
    useCase: ReadPicture,
    answer: 'bytes',
    handle: async ({ dto, caller, useCase }): Promise<Reply> => {
      const [, id, format] = FILE.exec(dto.file) ?? [];
      if (id === undefined || caller.realmId !== dto.realm_id) throw unknownPath();
      const found = await useCase.execute(caller, { name: nameOf(Number(id)) });
      if (found.format !== format) throw unknownPath();
      return servePicture(found);
    },
  });
}
