import { unknownPath } from '../routing/errors.js';
import { MAX_TEXT_LENGTH } from '../routing/limits.js';
import { IntegerParam, TextParam } from '../routing/params.js';
import type { Reply } from '../routing/reply.js';
import { type Route, route } from '../routing/route.js';
import { drawIdenticon } from './identicon.js';

const SIZE = 100;
const MEDIUM_SIZE = 500;
/** `7.png`, `7-medium.png`, `unknown.png`. */
const FILE = /^(0|[1-9]\d{0,15}|unknown)(-medium)?\.png$/;

class AvatarDto {
  @IntegerParam() realm_id!: number;
  @TextParam({ max: MAX_TEXT_LENGTH }) file!: string;
}

class RealmIconDto {
  @IntegerParam() realm_id!: number;
}

/**
 * The pictures we draw ourselves. For anybody, since browsers load them without credentials; nothing is looked up, so
 * they tell nobody who exists.
 */
export const avatarRoutes: readonly Route[] = [
  route('GET', '/user_avatars/:realm_id/:file', {
    auth: 'anyone',
    limit: 'none',
    atRoot: true,
    dto: AvatarDto,
    answer: 'bytes',
    handle: async ({ dto }) => {
      const [, who, medium] = FILE.exec(dto.file) ?? [];
      if (who === undefined) throw unknownPath();
      return picture(`${dto.realm_id}:${who}`, medium ? MEDIUM_SIZE : SIZE);
    },
  }),
  route('GET', '/user_avatars/:realm_id/realm/icon.png', {
    auth: 'anyone',
    limit: 'none',
    atRoot: true,
    dto: RealmIconDto,
    answer: 'bytes',
    handle: async ({ dto }) => picture(`${dto.realm_id}:realm`, SIZE),
  }),
];

const picture = (seed: string, size: number): Reply => ({
  status: 200,
  body: drawIdenticon(seed, size),
  contentType: 'image/png',
  cacheControl: 'public, max-age=86400',
});
