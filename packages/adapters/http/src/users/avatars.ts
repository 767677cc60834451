import { FindAvatar, type FoundAvatar, SpectateAvatar } from '@parley/domain/channels';
import { ReadPicture } from '@parley/domain/files';
import type { RealmUrls, UserId } from '@parley/domain/kernel';
import { type AvatarOutput, ChangeOwnAvatar, RemoveOwnAvatar } from '@parley/domain/users';
import type { HttpFeature } from '../declarations/feature.js';
import { type Route, route } from '../declarations/route.js';
import { publicRealmOf } from '../delivery/public-realm.js';
import { imageUpload, TAKES_IMAGE } from '../files/images.js';
import { SERVES_PICTURES, serveIdenticon, servePicture } from '../files/pictures.js';
import { MAX_TEXT_LENGTH } from '../params/param-types.js';
import { IntegerParam, NoParameters, TextParam } from '../params/params.js';
import { redirectTo, unknownPath } from '../wire/reply.js';
import * as wire from '../wire/schema.js';
import { avatarUrl, mediumAvatarUrl, unknownAvatarUrl } from './avatar-urls.js';

const OWN_AVATAR = wire.fields({ avatar_url: wire.nullable(wire.text()) });

const SIZE = 100;
const MEDIUM_SIZE = 500;
/** File names of generated avatars, such as `7.png`, `7-medium.png` and `unknown.png`. */
const DRAWN = /^(0|[1-9]\d{0,15}|unknown)(-medium)?\.png$/;
/** File names of uploaded avatars: their keys. */
const UPLOADED = /^([0-9a-f]{32})(-medium)?\.png$/;

class AvatarFileDto {
  @IntegerParam() realm_id!: number;
  @TextParam({ max: MAX_TEXT_LENGTH }) file!: string;
}

class AvatarDto {
  @IntegerParam() user_id!: number;
}

export function avatarRoutes(realmUrls: RealmUrls): readonly Route[] {
  const presentOwn = ({ user, realm }: AvatarOutput) => ({
    avatar_url: avatarUrl(user, publicRealmOf(realm, realmUrls), { seesEmail: true, clientGravatar: false }),
  });
  const redirecting = (path: string, summary: string, urlOf: typeof avatarUrl): Route => {
    const shape = { limit: 'none', atRoot: true, dto: AvatarDto, response: 'bytes', contentType: 'image/*' } as const;
    const response = ({ realm, user, seesEmail }: FoundAvatar) => {
      const publicRealm = publicRealmOf(realm, realmUrls);
      const url = user && urlOf(user, publicRealm, { seesEmail, clientGravatar: false });
      return redirectTo(url ?? unknownAvatarUrl(publicRealm));
    };
    return route('GET', path, {
      summary,
      section: 'users §1.3',
      tag: 'Files',
      ...shape,
      auth: 'user',
      scope: 'account',
      takesKeyParameter: true,
      useCase: FindAvatar,
      handle: async ({ dto, caller, useCase }) =>
        response(await useCase.execute(caller, { userId: dto.user_id as UserId })),
      forSpectators: route('GET', path, {
        summary: null,
        ...shape,
        auth: 'anyone',
        useCase: SpectateAvatar,
        handle: async ({ dto, caller, useCase }) =>
          response(await useCase.execute(caller, { userId: dto.user_id as UserId })),
      }),
    });
  };
  return [
    route('POST', '/users/me/avatar', {
      summary: 'Upload an avatar',
      section: 'users §11',
      ...TAKES_IMAGE,
      auth: 'user',
      scope: 'account',
      dto: NoParameters,
      useCase: ChangeOwnAvatar,
      toInput: (_dto, request) => ({ image: imageUpload(request) }),
      response: OWN_AVATAR,
      present: presentOwn,
    }),
    route('DELETE', '/users/me/avatar', {
      summary: 'Delete your avatar',
      section: 'users §11',
      auth: 'user',
      scope: 'account',
      dto: NoParameters,
      useCase: RemoveOwnAvatar,
      response: OWN_AVATAR,
      present: presentOwn,
    }),
    redirecting('/avatar/:user_id', 'Get the avatar of a user by redirect', avatarUrl),
    redirecting('/avatar/:user_id/medium', 'Get the large avatar of a user by redirect', mediumAvatarUrl),
    // Public, because browsers load images without credentials. Generated images need no lookup and so reveal no
    // accounts; keys of uploaded images cannot be guessed.
    route('GET', '/user_avatars/:realm_id/:file', {
      summary: 'Get an avatar',
      section: 'users §1.3',
      ...SERVES_PICTURES,
      dto: AvatarFileDto,
      useCase: ReadPicture,
      response: 'bytes',
      handle: async ({ dto, caller, useCase }) => {
        const [, who, medium] = DRAWN.exec(dto.file) ?? [];
        if (who !== undefined) return serveIdenticon(`${dto.realm_id}:${who}`, medium ? MEDIUM_SIZE : SIZE);
        const [, key, isMedium] = UPLOADED.exec(dto.file) ?? [];
        if (key === undefined || caller.realmId !== dto.realm_id) throw unknownPath();
        return servePicture(
          await useCase.execute(caller, { name: isMedium ? `avatar/${key}/medium` : `avatar/${key}` }),
        );
      },
    }),
  ];
}

export const AVATARS = { tag: 'Users', routes: ({ realmUrls }) => avatarRoutes(realmUrls) } satisfies HttpFeature;
