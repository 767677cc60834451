import type { Caller } from '../kernel/caller.js';
import { DomainError } from '../kernel/errors.js';
import type { RealmId, UserId } from '../kernel/ids.js';
import type { RealmUrls } from '../kernel/realm-urls.js';
import type { UnitOfWork } from '../kernel/unit-of-work.js';
import type { MarkdownOptions, MarkdownRenderer, ParsedMarkdown } from '../markdown/markdown.js';
import type { ParsedAhead } from '../markdown/text-renderer.js';
import type { Realm } from '../realms/realm.js';
import type { User } from '../users/user.js';
import { markdownOptions, parseAhead } from './render-message.js';

/** How messages of an organization are parsed that some of its people write, and what decides it. */
interface OwnOptions {
  readonly realm: Realm;
  readonly translateEmoticons: boolean;
  readonly options: MarkdownOptions;
}

/** A text that was parsed before the unit. */
export interface TextAhead {
  readonly content: string;
  readonly parsed: ParsedAhead;
  readonly by: OwnOptions;
}

/** What is known of one organization, as it was when somebody first wrote. */
interface KnownRealm {
  readonly realm: Realm;
  readonly translating: OwnOptions;
  readonly plain: OwnOptions;
  /** What people want, of those who have written. */
  readonly wishes: Map<UserId, boolean>;
}

/** So many are kept. */
const MAX_REALMS = 1000;
const MAX_PEOPLE = 10_000;

/**
 * Parses what people write before the unit that stores or shows it. How, is looked up once for each of them: the unit sees
 * whether it still holds, and parses again where it does not.
 */
export class OwnTextParser {
  static readonly inject = ['unitOfWork', 'markdownRenderer', 'realmUrls'] as const;

  private readonly known = new Map<RealmId, KnownRealm>();

  constructor(
    private readonly uow: UnitOfWork,
    private readonly renderer: MarkdownRenderer,
    private readonly realmUrls: RealmUrls,
  ) {}

  async parse(caller: Caller, content: string): Promise<TextAhead> {
    const by = this.find(caller) ?? (await this.lookUp(caller));
    return { content, by, parsed: await parseAhead(this.renderer, content, by.options) };
  }

  /** Within the unit: as it is parsed by what holds there. @throws DomainError UNRENDERABLE_CONTENT */
  parsedBy(realm: Realm, user: User, { content, parsed, by }: TextAhead): ParsedMarkdown {
    const isSame = this.isStill(by, realm, user);
    if (isSame && parsed instanceof DomainError) throw parsed;
    if (isSame) return parsed as ParsedMarkdown;
    this.known.delete(realm.id);
    const ahead = parsed instanceof DomainError ? undefined : parsed;
    return this.renderer.parseNow(content, this.optionsOf(realm, user.settings.translateEmoticons), ahead);
  }

  private isStill({ realm: before, translateEmoticons, options }: OwnOptions, realm: Realm, user: User): boolean {
    if (user.settings.translateEmoticons !== translateEmoticons) return false;
    // Mostly the very same that was kept.
    if (realm === before) return options.realmUrl === this.realmUrls.urlOf(realm);
    return areSame(this.optionsOf(realm, translateEmoticons), options);
  }

  private find({ realmId, userId }: Caller): OwnOptions | null {
    const known = this.known.get(realmId);
    const wish = known?.wishes.get(userId);
    if (!known || wish === undefined) return null;
    return wish ? known.translating : known.plain;
  }

  private async lookUp({ realmId, userId }: Caller): Promise<OwnOptions> {
    const { realm, wish } = await this.uow.read(async ({ realms, users }) => ({
      realm: await realms.get(realmId),
      wish: (await users.find(realmId, userId))?.settings.translateEmoticons ?? false,
    }));
    const known = this.knownAs(realm);
    if (known.wishes.size >= MAX_PEOPLE) known.wishes.clear();
    known.wishes.set(userId, wish);
    return wish ? known.translating : known.plain;
  }

  /** What is known of a realm that is parsed as it is now. */
  private knownAs(realm: Realm): KnownRealm {
    const known = this.known.get(realm.id);
    if (known?.realm === realm) return known;
    const plain = this.optionsBy(realm, false);
    if (known && areSame(known.plain.options, plain.options)) return known;
    const fresh = { realm, plain, translating: this.optionsBy(realm, true), wishes: new Map<UserId, boolean>() };
    if (this.known.size >= MAX_REALMS) this.known.clear();
    this.known.set(realm.id, fresh);
    return fresh;
  }

  private optionsBy(realm: Realm, translateEmoticons: boolean): OwnOptions {
    return { realm, translateEmoticons, options: this.optionsOf(realm, translateEmoticons) };
  }

  private optionsOf(realm: Realm, translateEmoticons: boolean): MarkdownOptions {
    return markdownOptions(realm, this.realmUrls.urlOf(realm), { translateEmoticons });
  }
}

const areSame = (one: MarkdownOptions, two: MarkdownOptions): boolean => JSON.stringify(one) === JSON.stringify(two);
