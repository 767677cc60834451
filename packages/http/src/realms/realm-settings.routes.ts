import { ChangeRealm } from '@parley/domain/membership';
import { given } from '../kernel/given.js';
import { type Route, route } from '../kernel/route.js';
import { toAuthenticationMethods } from './authentication-methods.wire.js';
import { CHANGED_REALM } from './realm.answers.js';
import { ChangeRealmDto, toRealmPermissionChanges } from './realm-settings.dtos.js';
import { presentRealmChanges } from './realm-settings.presenters.js';
import { REALM_SETTING_FORMS } from './realm-settings.wire.js';

export const realmSettingRoutes: readonly Route[] = [
  route('PATCH', '/realm', {
    auth: 'user',
    roleRequirements: ['administrator'],
    dto: ChangeRealmDto,
    useCase: ChangeRealm,
    toInput: (dto) =>
      given({
        name: dto.name,
        stringId: dto.string_id,
        settings: REALM_SETTING_FORMS.read(dto),
        authenticationMethods: dto.authentication_methods && toAuthenticationMethods(dto.authentication_methods),
        permissions: toRealmPermissionChanges(dto),
      }),
    answer: CHANGED_REALM,
    present: (output, { dto }) => presentRealmChanges(output, dto),
  }),
];
