import { DomainError, type RealmUrls, type UnitOfWork } from '@parley/domain/kernel';
import { CreateRealm } from '@parley/domain/membership';
import type { Realm } from '@parley/domain/realms';
import type { Resolve } from '../resolve.js';
import { type ChatRealm, presentRealm } from './presented.js';

export interface RealmToEnsure {
  /** Lower-case letters, digits and dashes in between; `''` for the one at the server's own address. */
  readonly name: string;
  /** What people see; default: the name. An organization that is there keeps its own. */
  readonly title?: string;
}

/** Organizations, for the host application. */
export interface Realms {
  /** The one of this name, made when there is none, however many ask at once. */
  ensure(realm: RealmToEnsure): Promise<ChatRealm>;
  /** Null: there is none. */
  find(name: string): Promise<ChatRealm | null>;
  /** By id, oldest first. */
  list(): Promise<readonly ChatRealm[]>;
}

export function realmsOf(uow: UnitOfWork, urls: RealmUrls, resolve: Resolve): Realms {
  const present = (realm: Realm) => presentRealm(realm, urls.urlOf(realm));
  const find = (name: string) => uow.read(({ realms }) => realms.findByStringId(name));
  return {
    async ensure({ name, title = name === '' ? 'Chat' : name }) {
      const existing = await find(name);
      if (existing) return present(existing);
      try {
        return present(await resolve(CreateRealm).execute({ stringId: name, name: title }));
      } catch (error) {
        if (!(error instanceof DomainError && error.is('STRING_ID_TAKEN'))) throw error;
        const made = await find(name);
        if (!made) throw error;
        return present(made);
      }
    },
    async find(name) {
      const realm = await find(name);
      return realm && present(realm);
    },
    list: async () => (await uow.read(({ realms }) => realms.list())).map(present),
  };
}
