import { type DataValidator, DomainError, declarationProblem, type RealmCopy } from '@parley/domain/kernel';
import {
  checkLinkifier,
  isCodeLanguage,
  isScript,
  type LinkifierSyntax,
  parseDomain,
  REALM_SETTINGS,
  type RealmSettingDefinition,
  type RealmSettingName,
} from '@parley/domain/realms';
import { toFullName } from '@parley/domain/users';

export interface PermittedCopy {
  readonly copy: RealmCopy;
  /** Dropped parts of the copy, such as `canHoldMessages of hamlet@example.com`. */
  readonly dropped: readonly string[];
}

/** Settings of the operator that take something away. */
const RESTRICTIONS: ReadonlySet<string> = new Set(['presenceDisabled'] satisfies RealmSettingName[]);

/**
 * Drops what only the operator grants, schemas that no application could declare, playgrounds that are scripts, linkifiers
 * and domains that no owner could add, and characters that names of people cannot have.
 */
export function permittedCopy(copy: RealmCopy, validator: DataValidator, syntax: LinkifierSyntax): PermittedCopy {
  const dropped: string[] = [];
  const users = copy.users.map((each) => {
    const { specialPermissions, email } = each.user;
    dropped.push(...specialPermissions.map((permission) => `${permission} of ${email}`));
    const fullName = toFullName(each.user.fullName);
    if (fullName !== each.user.fullName) dropped.push(`characters of the name ${fullName}`);
    return { ...each, user: { ...each.user, fullName, specialPermissions: [] } };
  });
  const dataSchemas = copy.dataSchemas.filter((declared) => {
    const problem = declarationProblem(declared, validator);
    if (problem !== null) dropped.push(problem);
    return problem === null;
  });
  const playgrounds = copy.playgrounds.filter(({ name, language, urlTemplate }) => {
    const isPermitted = isCodeLanguage(language) && !isScript(urlTemplate);
    if (!isPermitted)
      dropped.push(`playground ${name}, which is ${isCodeLanguage(language) ? 'a script' : 'for no language'}`);
    return isPermitted;
  });
  /** True if the check of the operation that adds the object passes; else the object is dropped. */
  const isValid = (noun: string, check: () => unknown): boolean => {
    try {
      check();
      return true;
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      dropped.push(`${noun}: ${error.message}`);
      return false;
    }
  };
  const linkifiers = copy.linkifiers.filter((linkifier) =>
    isValid(`linkifier ${linkifier.pattern}`, () => checkLinkifier(linkifier, [], syntax)),
  );
  const allowedDomains = copy.allowedDomains.filter(({ domain }) => isValid('domain', () => parseDomain(domain)));
  const granted = Object.entries<RealmSettingDefinition>(REALM_SETTINGS).filter(
    ([name, { changedBy }]) => changedBy === 'nobody' && !RESTRICTIONS.has(name),
  );
  const defaults = Object.fromEntries(granted.map(([name, definition]) => [name, definition.default]));
  const settings: Readonly<Record<string, unknown>> = copy.realm.settings;
  dropped.push(...Object.keys(defaults).filter((name) => settings[name] !== defaults[name]));
  const realm = { ...copy.realm, settings: { ...copy.realm.settings, ...defaults } };
  return { copy: { ...copy, realm, users, dataSchemas, playgrounds, linkifiers, allowedDomains }, dropped };
}
