import type {
  Linkifier,
  MarkdownOptions,
  MarkdownRenderer,
  ParsedMarkdown,
  RenderedMarkdown,
  ResolvedNames,
  TopicLink,
} from '@parley/domain';
import { findAlertedUsers } from './alert-words.js';
import { BlockParser, finishCode } from './blocks/block-parser.js';
import { FenceReader } from './blocks/fences.js';
import { normalizeWhiteSpace, separateLists } from './blocks/prepare.js';
import { MAX_HTML_LENGTH, unrenderable } from './bounds.js';
import { isBlank, trim } from './characters.js';
import { copy, type Element, layOut } from './html/element.js';
import { HtmlStash } from './html/stash.js';
import { writeHtml } from './html/write-html.js';
import { InlineFormatter } from './inline/inline-formatter.js';
import { findFormulas, renderFormula } from './inline/math.js';
import type { NameLookup } from './inline/rule.js';
import { findTopicLinks } from './links/topic-links.js';
import { Outcome } from './outcome.js';
import { addPreviews } from './previews/previews.js';
import { References } from './references.js';
import { Watchdog } from './watchdog.js';

/** What the server, not a realm, decides. */
export interface MarkdownServerSettings {
  /** Whether `file:///…` becomes a link. */
  readonly fileLinks?: boolean;
  /** The address under which an image of another server is shown, where a proxy hides who looks at it. */
  readonly proxiedImageUrl?: (url: string) => string;
}

type FormattedMarkdown = Omit<RenderedMarkdown, 'alertWordUserIds' | 'isMeMessage'>;

/** The first step's result: blocks, formulas and code are done; texts that hold names still wait for them. */
class ParsedMessage implements ParsedMarkdown {
  readonly references = new References();
  readonly formulas = new Map<string, string | null>();
  /** Complete already when the text refers to nothing. */
  formatted: FormattedMarkdown | undefined;

  constructor(
    readonly options: MarkdownOptions,
    readonly isMeMessage: boolean,
    /** What is searched for alert words: the text without fenced code. */
    readonly prose: string,
    readonly blocks: Element,
    readonly html: HtmlStash,
  ) {}
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

/** Zulip's Markdown dialect: see docs/markdown.md. */
export class ZulipMarkdownRenderer implements MarkdownRenderer {
  constructor(private readonly settings: MarkdownServerSettings = {}) {}

  parse(content: string, options: MarkdownOptions): ParsedMarkdown {
    return guarded(() => {
      const html = new HtmlStash();
      const watchdog = new Watchdog();
      const lines = isBlank(content)
        ? []
        : new FenceReader(html, watchdog).read(
            normalizeWhiteSpace(separateLists(content.split('\n'))),
            options.defaultCodeLanguage.toLowerCase(),
          );
      const blocks = new BlockParser(html, options.indentedCode ?? true).parse(lines);
      finishCode(blocks, watchdog);
      const parsed = new ParsedMessage(options, content.startsWith(ME), lines.join('\n'), blocks, html);
      parsed.references.collect(blocks);
      this.renderFormulas(parsed, watchdog);
      if (content.includes('user_uploads/')) this.collectUploads(parsed);
      if (parsed.references.isEmpty) parsed.formatted = this.format(parsed, NO_NAMES);
      return parsed;
    });
  }

  render(parsed: ParsedMarkdown, names: ResolvedNames): RenderedMarkdown {
    if (!(parsed instanceof ParsedMessage)) throw new TypeError('Not parsed by this renderer');
    return guarded(() => ({
      ...(parsed.formatted ?? this.format(parsed, lookup(names))),
      alertWordUserIds: findAlertedUsers(parsed.prose, names.alertWords),
      isMeMessage: parsed.isMeMessage,
    }));
  }

  topicLinks(topic: string, linkifiers: readonly Linkifier[]): readonly TopicLink[] {
    return findTopicLinks(topic, linkifiers);
  }

  private format(parsed: ParsedMessage, names: NameLookup): FormattedMarkdown {
    const { options, html } = parsed;
    const outcome = new Outcome();
    const root = this.formatInline(parsed, names, outcome);
    layOut(root);
    addPreviews(root, { options, names, outcome, proxied: (url) => this.proxied(url, options.realmUrl) });
    const result = trim(writeHtml(root, html));
    if (result.length > MAX_HTML_LENGTH) throw unrenderable();
    return { html: result, ...outcome };
  }

  private formatInline(parsed: ParsedMessage, names: NameLookup, outcome: Outcome): Element {
    const root = copy(parsed.blocks);
    const { options, html, formulas } = parsed;
    const watchdog = new Watchdog();
    const formula = (source: string) => {
      const known = formulas.get(source);
      return known === undefined ? renderFormula(source, false, watchdog) : known;
    };
    new InlineFormatter({ options, html, names, outcome, formula, fileLinks: this.settings.fileLinks ?? false }).format(
      root,
    );
    return root;
  }

  /** Ahead of the second step, which has no time for them. */
  private renderFormulas({ blocks, formulas, prose }: ParsedMessage, watchdog: Watchdog): void {
    if (!prose.includes('$$')) return;
    for (const text of textsOf(blocks)) {
      for (const source of findFormulas(text)) {
        if (!formulas.has(source)) formulas.set(source, renderFormula(source, false, watchdog));
      }
    }
  }

  /** Which uploads are linked is known only once links are read: they are, without any names. */
  private collectUploads(parsed: ParsedMessage): void {
    const outcome = new Outcome();
    const root = this.formatInline(parsed, NO_NAMES, outcome);
    const options = { ...parsed.options, mediaPreviews: false };
    addPreviews(root, { options, names: NO_NAMES, outcome, proxied: (url) => url });
    for (const path of outcome.uploadPaths) parsed.references.uploadPaths.add(path);
  }

  private proxied(url: string, realmUrl: string): string {
    const { proxiedImageUrl } = this.settings;
    return proxiedImageUrl && !url.startsWith(`${realmUrl}/`) ? proxiedImageUrl(url) : url;
  }
}

function* textsOf(element: Element): Generator<string> {
  if (!element.isTextFinal) yield element.text;
  yield element.tail;
  for (const child of element.children) yield* textsOf(child);
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

/** Nesting beyond what the stack holds is as unrenderable as any other. */
function guarded<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw error instanceof RangeError ? unrenderable() : error;
  }
}
