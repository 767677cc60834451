import { loadRealmPermissions } from '@parley/domain/realms';
import type { RealmUrls } from '@parley/domain/shared';
import { type RegisterSection, registerSection } from '../events/register-section.js';
import { publicRealmOf } from './public-realm.js';
import { presentRealm, type ServerInfo } from './realm.presenters.js';

export interface RealmSectionParts {
  readonly realmUrls: RealmUrls;
  readonly serverInfo: ServerInfo;
}

export const realmSection = ({ realmUrls, serverInfo }: RealmSectionParts): RegisterSection =>
  registerSection({
    name: 'realm',
    load: (snapshot) => snapshot.load(loadRealmPermissions),
    present: (permissions, { realm }) => presentRealm(realm, permissions, publicRealmOf(realm, realmUrls), serverInfo),
  });
