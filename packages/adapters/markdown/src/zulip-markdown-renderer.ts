import type {
  LinkifierRule,
  MarkdownOptions,
  MarkdownRenderer,
  ParsedMarkdown,
  RenderedMarkdown,
  ResolvedNames,
  TopicLink,
} from '@parley/domain/markdown';
import { alertSegments } from '@parley/domain/writing';
import { findAlertedUsers } from './alert-words.js';
import { BlockParser, finishCode, normalizeWhiteSpace, separateLists } from './blocks/block-parser.js';
import { FenceReader } from './blocks/fences.js';
import { Outcome, StepBudget, unrenderable, WorkBudget } from './budgets.js';
import { isBlank } from './characters.js';
import { copy, Element, HtmlStash, layOut, writeHtml } from './html/html.js';
import { InlineFormatter, isPlain } from './inline/inline-formatter.js';
import { addPreviews } from './inline/previews.js';
import type { NameLookup } from './inline/rule.js';
import { RealmLinkifiers } from './links/realm-linkifiers.js';
import { findTopicLinks } from './links/topic-links.js';
import { References } from './references.js';
import type { Typesetter } from './typesetting/typeset.js';
import { Typesetting, TypesettingThread } from './typesetting/typesetting.js';

/** Server-wide settings, as opposed to realm settings. */
export interface MarkdownServerSettings {
  /** True to link `file:///…`. */
  readonly fileLinks?: boolean;
  /** Returns the proxy URL for an image of another server, which hides viewers from that server. */
  readonly proxiedImageUrl?: (url: string) => string;
}

type FormattedMarkdown = Omit<RenderedMarkdown, 'alertWordUserIds' | 'isMeMessage'>;

/** Result of the first phase: blocks, formulas and code are complete; texts with names are still pending. */
class ParsedMessage implements ParsedMarkdown {
  readonly references = new References();
  /** Set early if the text contains no names. */
  formatted: FormattedMarkdown | undefined;

  constructor(
    readonly content: string,
    readonly options: MarkdownOptions,
    /** Text without fenced code, searched for alert words. */
    readonly prose: string,
    readonly blocks: Element,
    readonly html: HtmlStash,
    readonly typesetting: Typesetting,
  ) {}

  get alertSegments(): ReadonlySet<string> {
    return alertSegments(this.prose.toLowerCase());
  }
}

const NO_NAMES: NameLookup = {
  userByName: () => undefined,
  userById: () => undefined,
  groupByName: () => undefined,
  channelByName: () => undefined,
  customEmojiUrl: () => undefined,
  upload: () => undefined,
};

const ME = '/me ';

/**
 * Line that is a paragraph and, if `isPlain`, needs no escapes: no list, heading, rule, quote, fence or code begins with a letter. The
 * limit keeps the HTML below `MAX_HTML_LENGTH`.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they may be white space or placeholders
const PARAGRAPH = /^[a-z][^\0-\x1f>]{0,10000}$/i;

/** Maximum length of HTML, as a multiple of the text's length plus a constant. Longer HTML would fill the storage. */
const MAX_GROWTH = 100;
const MAX_EXTRA_LENGTH = 10 * 1024;

/** Returns the source text as HTML. */
const plainHtml = (content: string): string =>
  `<p>${content.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('\n', '<br>\n')}</p>`;

/** Renderer of Zulip's Markdown dialect; see docs/markdown.md. */
export class ZulipMarkdownRenderer implements MarkdownRenderer {
  private readonly budget = new StepBudget();

  constructor(
    private readonly settings: MarkdownServerSettings = {},
    private readonly typesetter: Typesetter = new TypesettingThread(),
    private readonly newBudget = () => new WorkBudget(),
  ) {}

  async parse(content: string, options: MarkdownOptions): Promise<ParsedMarkdown> {
    if (this.budget.isSpent) await this.budget.next();
    const parsed = this.read(content, options);
    if (this.budget.isSpent) await this.budget.next();
    this.rehearse(parsed);
    if (!parsed.typesetting.isDone) await parsed.typesetting.run(this.typesetter);
    if (this.budget.isSpent) await this.budget.next();
    return this.complete(parsed);
  }

  parseNow(content: string, options: MarkdownOptions, ahead?: ParsedMarkdown): ParsedMarkdown {
    const parsed = this.read(content, options);
    this.rehearse(parsed);
    if (ahead) parsed.typesetting.takeFrom(own(ahead).typesetting);
    return this.complete(parsed);
  }

  render(parsed: ParsedMarkdown, names: ResolvedNames): RenderedMarkdown {
    const message = own(parsed);
    const formatted = message.formatted ?? this.format(message, copy(message.blocks), lookup(names));
    return {
      ...formatted,
      alertWordUserIds: findAlertedUsers(message.prose, names.alertWords),
      isMeMessage: message.content.startsWith(ME),
    };
  }

  topicLinks(topic: string, linkifiers: readonly LinkifierRule[]): readonly TopicLink[] {
    return findTopicLinks(topic, linkifiers);
  }

  /** Stops the thread for code and formulas, which render as plain text afterwards. */
  close(): Promise<void> {
    return this.typesetter.close();
  }

  private read(content: string, options: MarkdownOptions): ParsedMessage {
    const html = new HtmlStash();
    const typesetting = new Typesetting();
    // Fast path for most messages.
    if (PARAGRAPH.test(content) && isPlain(content, options)) {
      this.budget.spend(content.length);
      const plain = new ParsedMessage(content, options, content, new Element('div'), html, typesetting);
      plain.formatted = { html: `<p>${content}</p>`, ...new Outcome() };
      return plain;
    }
    const work = this.newBudget();
    try {
      const lines = isBlank(content)
        ? []
        : new FenceReader(html, typesetting, work).read(
            normalizeWhiteSpace(separateLists(content.split('\n'))),
            options.defaultCodeLanguage.toLowerCase(),
          );
      const prose = lines.join('\n');
      const blocks = new BlockParser(html, options.indentedCode ?? true, work).parse(prose);
      finishCode(blocks, html, typesetting);
      const parsed = new ParsedMessage(content, options, prose, blocks, html, typesetting);
      parsed.references.collect(blocks);
      return parsed;
    } catch (error) {
      throw refused(error);
    } finally {
      this.budget.spend(work.steps);
    }
  }

  /**
   * Formats the text without names to collect its formulas and linked uploads, which are known only after formatting.
   */
  private rehearse(parsed: ParsedMessage): void {
    const { content, prose, options, blocks, references } = parsed;
    if (!prose.includes('$$') && !content.includes('user_uploads/')) return;
    const outcome = new Outcome();
    const root = copy(blocks);
    this.formatInline(parsed, root, NO_NAMES, outcome);
    addPreviews(root, {
      options: { ...options, mediaPreviews: false },
      names: NO_NAMES,
      outcome,
      proxied: (url) => url,
    });
    references.uploadPaths = outcome.uploadPaths;
  }

  private complete(parsed: ParsedMessage): ParsedMessage {
    if (parsed.references.isEmpty) parsed.formatted ??= this.format(parsed, parsed.blocks, NO_NAMES);
    return parsed;
  }

  private format(parsed: ParsedMessage, root: Element, names: NameLookup): FormattedMarkdown {
    const { options, html } = parsed;
    const outcome = new Outcome();
    this.formatInline(parsed, root, names, outcome);
    try {
      layOut(root);
      addPreviews(root, { options, names, outcome, proxied: (url) => this.proxied(url, options.realmUrl) });
      const written = writeHtml(root, html);
      if (written.length > MAX_GROWTH * parsed.content.length + MAX_EXTRA_LENGTH) {
        return { html: plainHtml(parsed.content), ...new Outcome() };
      }
      return { html: written, ...outcome };
    } catch (error) {
      throw refused(error);
    }
  }

  private formatInline(parsed: ParsedMessage, root: Element, names: NameLookup, outcome: Outcome): void {
    const { options, html, typesetting } = parsed;
    const work = this.newBudget();
    const linkifiers = options.linkifiers.length === 0 ? null : new RealmLinkifiers(options.linkifiers);
    try {
      new InlineFormatter({
        options,
        html,
        typesetting,
        names,
        outcome,
        work,
        linkifiers,
        fileLinks: this.settings.fileLinks ?? false,
      }).format(root);
    } catch (error) {
      throw refused(error);
    } finally {
      this.budget.spend(work.steps + (linkifiers?.charactersRead ?? 0));
    }
  }

  private proxied(url: string, realmUrl: string): string {
    const { proxiedImageUrl } = this.settings;
    return proxiedImageUrl && !url.startsWith(`${realmUrl}/`) ? proxiedImageUrl(url) : url;
  }
}

function own(parsed: ParsedMarkdown): ParsedMessage {
  if (!(parsed instanceof ParsedMessage)) throw new TypeError('Not parsed by this renderer');
  return parsed;
}

function lookup(names: ResolvedNames): NameLookup {
  return {
    userByName: (name) => names.usersByName.get(name),
    userById: (id) => names.usersById.get(id),
    groupByName: (name) => names.groupsByName.get(name),
    channelByName: (name) => names.channelsByName.get(name),
    customEmojiUrl: (name) => names.customEmoji.get(name),
    upload: (path) => names.uploads.get(path),
  };
}

/** Treats a stack overflow like any other excessive nesting. */
const refused = (error: unknown) => (error instanceof RangeError ? unrenderable() : error);
