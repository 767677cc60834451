import { ChangeRealmImage, FindOwnRealm, ReadPicture, RemoveRealmImage } from '@parley/domain/files';
import { DomainError, type RealmUrls } from '@parley/domain/kernel';
import type { Realm, RealmImageName } from '@parley/domain/realms';
import type { HttpFeature } from '../declarations/feature.js';
import { type Context, type Route, route } from '../declarations/route.js';
import { publicRealmOf } from '../delivery/public-realm.js';
import { BooleanParam, IntegerParam, NoParameters } from '../params/params.js';
import { redirectTo } from '../wire/reply.js';
import * as wire from '../wire/schema.js';
import { imageUpload, TAKES_IMAGE } from './images.js';
import { SERVES_PICTURES, serveIdenticon, servePicture } from './pictures.js';
import { REALM_IMAGES, realmImageUrl } from './realm-image-urls.js';

const ICON = wire.fields({ icon_url: wire.text() });

const SIZE = 100;

class LogoDto {
  @BooleanParam({ description: 'Whether it is the logo for dark themes.' }) night!: boolean;
}

class RealmImageDto {
  @IntegerParam() realm_id!: number;
}

const PICTURE_NAMES: Readonly<Record<RealmImageName, string>> = {
  icon: 'icon of an organization',
  logo: 'logo of an organization',
  nightLogo: 'logo of an organization for dark themes',
};

const logoOf = ({ night }: LogoDto): RealmImageName => (night ? 'nightLogo' : 'logo');

/** Implements organization §3. */
const FOR_ADMINISTRATORS = { auth: 'user', scope: 'account', roleRequirements: ['administrator'] } as const;

export function brandingRoutes(realmUrls: RealmUrls): readonly Route[] {
  const urlOf = (name: RealmImageName, realm: Realm) =>
    realmImageUrl(name, realm.images[name], publicRealmOf(realm, realmUrls));
  const presentIcon = (realm: Realm) => ({ icon_url: urlOf('icon', realm) });
  return [
    route('GET', '/realm/icon', {
      summary: 'Get the icon of the organization',
      section: 'organization §3',
      withoutPage: 'addresses',
      auth: 'user',
      scope: 'account',
      dto: NoParameters,
      useCase: FindOwnRealm,
      response: 'bytes',
      contentType: 'image/*',
      handle: async ({ caller, useCase }: Context<'user', NoParameters, FindOwnRealm>) =>
        redirectTo(urlOf('icon', await useCase.execute(caller))),
    }),
    route('POST', '/realm/icon', {
      summary: 'Upload the icon of the organization',
      section: 'organization §3',
      ...TAKES_IMAGE,
      ...FOR_ADMINISTRATORS,
      dto: NoParameters,
      useCase: ChangeRealmImage,
      toInput: (_dto, request) => ({ name: 'icon' as const, image: imageUpload(request) }),
      response: ICON,
      present: presentIcon,
    }),
    route('DELETE', '/realm/icon', {
      summary: 'Delete the icon of the organization',
      section: 'organization §3',
      ...FOR_ADMINISTRATORS,
      dto: NoParameters,
      useCase: RemoveRealmImage,
      toInput: () => ({ name: 'icon' as const }),
      response: ICON,
      present: presentIcon,
    }),
    route('GET', '/realm/logo', {
      summary: 'Get the logo of the organization',
      section: 'organization §3',
      withoutPage: 'addresses',
      auth: 'user',
      scope: 'account',
      dto: LogoDto,
      useCase: FindOwnRealm,
      response: 'bytes',
      contentType: 'image/*',
      handle: async ({ dto, caller, useCase }: Context<'user', LogoDto, FindOwnRealm>) =>
        redirectTo(urlOf(logoOf(dto), await useCase.execute(caller))),
    }),
    route('POST', '/realm/logo', {
      summary: 'Upload the logo of the organization',
      section: 'organization §3',
      ...TAKES_IMAGE,
      ...FOR_ADMINISTRATORS,
      dto: LogoDto,
      useCase: ChangeRealmImage,
      toInput: (dto, request) => ({ name: logoOf(dto), image: imageUpload(request) }),
      response: wire.fields({}),
      present: () => ({}),
    }),
    route('DELETE', '/realm/logo', {
      summary: 'Delete the logo of the organization',
      section: 'organization §3',
      ...FOR_ADMINISTRATORS,
      dto: LogoDto,
      useCase: RemoveRealmImage,
      toInput: (dto) => ({ name: logoOf(dto) }),
      response: wire.fields({}),
      present: () => ({}),
    }),
    ...(Object.keys(REALM_IMAGES) as RealmImageName[]).map(image),
  ];
}

/**
 * Public, because browsers load it before log-in. Without an upload, serves a generated image, even for unknown realms.
 */
function image(name: RealmImageName): Route {
  return route('GET', `/user_avatars/:realm_id/realm/${REALM_IMAGES[name].wireName}.png`, {
    summary: `Get the uploaded ${PICTURE_NAMES[name]}`,
    extension: 'extensions §1',
    ...SERVES_PICTURES,
    dto: RealmImageDto,
    useCase: ReadPicture,
    response: 'bytes',
    handle: async ({ dto, caller, useCase }) => {
      try {
        if (caller.realmId === dto.realm_id) return servePicture(await useCase.execute(caller, { name }));
      } catch (error) {
        if (!(error instanceof DomainError && error.is('UNKNOWN_PICTURE'))) throw error;
      }
      return serveIdenticon(`${dto.realm_id}:realm`, SIZE);
    },
  });
}

export const BRANDING = {
  tag: 'Organization',
  routes: ({ realmUrls }) => brandingRoutes(realmUrls),
} satisfies HttpFeature;
