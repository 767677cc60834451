import { loadRealmPermissions } from '@parley/domain/realms';
import { type RegisterSection, registerSection } from '../events/register-section.js';
import type { SectionParts } from '../feature.js';
import { publicRealmOf } from './public-realm.js';
import { presentRealm } from './realm.presenters.js';

export const realmSection = ({ realmUrls, serverInfo }: SectionParts): RegisterSection =>
  registerSection({
    name: 'realm',
    load: (snapshot) => snapshot.load(loadRealmPermissions),
    present: (permissions, { realm }) => presentRealm(realm, permissions, publicRealmOf(realm, realmUrls), serverInfo),
  });
