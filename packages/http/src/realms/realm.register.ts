import { loadRealmPermissions } from '@parley/domain/realms';
import { type RegisterSection, registerSection } from '../events/register-section.js';
import type { SectionParts } from '../feature.js';
import { publicRealmOf } from './public-realm.js';
import { REALM_FIELDS } from './realm.answers.js';
import { presentRealm } from './realm.presenters.js';

export const realmSection = ({ realmUrls, serverInfo }: SectionParts): RegisterSection =>
  registerSection({
    name: 'realm',
    fields: REALM_FIELDS,
    forSpectators: 'likeGuests',
    load: (snapshot) => snapshot.load(loadRealmPermissions),
    present: (permissions, { realm, isSpectator }) => ({
      ...presentRealm(realm, permissions, publicRealmOf(realm, realmUrls), serverInfo),
      ...(isSpectator && { realm_allow_message_editing: false, realm_presence_disabled: true }),
    }),
  });
