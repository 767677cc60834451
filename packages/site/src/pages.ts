/** Sections of the site with their pages, as paths in `docs/` without `.md`. */
export const SECTIONS: Readonly<Record<string, readonly string[]>> = {
  Guides: [
    'guides/frameworks',
    'guides/support-chat',
    'guides/club',
    'guides/company',
    'cluster',
    'guides/from-zulip',
    'guides/bot',
    'guides/phone',
    'embedding',
    'embedding-reference',
    'embedding-ui',
    'operating',
    'deploy/around-parley',
    'personal-data',
    'client',
  ],
  'How-to': [
    'log-in',
    'notifications',
    'integrations',
    'import',
    'import/slack',
    'import/mattermost',
    'import/rocketchat',
    'import/teams',
    'import/discord',
    'import/zulip',
    'export',
    'permissions',
    'web-client',
  ],
  Reference: [
    'features',
    'configuration',
    'errors',
    'limits',
    'agents',
    'extensions',
    'compatibility',
    'markdown',
    'realm-settings',
    'ports',
    'tables',
    'CHANGELOG',
  ],
  Contract: [
    'contract/index',
    'contract/protocol',
    'contract/messages',
    'contract/events',
    'contract/channels',
    'contract/users',
    'contract/organization',
    'contract/markdown',
    'contract/clients',
  ],
  Explanation: ['architecture', 'tour', 'adr/index', 'performance', 'dependencies', 'glossary'],
  Contributing: [
    'CONTRIBUTING',
    'adding-an-operation',
    'testing',
    'simulation',
    'design',
    'helpers',
    'api-index',
    'SECURITY',
  ],
};

/** Page of the site. */
export interface Page {
  /** Path below the site, without extension. */
  readonly path: string;
  /** Markdown. */
  readonly text: string;
}

export const titleOf = (text: string): string => /^# (.+)$/m.exec(text)?.[1] ?? 'Parley';

/** First sentence after the title, as plain text. */
export function summaryOf(text: string): string {
  const paragraphs = text.split(/\n{2,}/).map((part) => part.trim());
  const first = paragraphs.find((part) => /^[A-Z`[]/.test(part)) ?? '';
  const plain = first.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').replace(/\s+/g, ' ');
  return /^.*?[.:](?= |$)/.exec(plain)?.[0].replace(/:$/, '.') ?? plain;
}

const LINK = /(!?)\[([^\]]*)\]\(([^)\s]+)\)/g;

/** Samples and index pages have other names on the site. */
const pageOf = (target: string): string =>
  target
    .replace(/^(?:\.\/)?((?:\.\.\/)*(?:deploy|examples)\/(?!\S*\.md).*|[\w-]+\.schema\.json)$/, '$1.md')
    .replace(/README\.md(?=#|$)/, 'index.md');

/** Page that shows a file of `docs/`. */
export const samplePage = ({ path, text }: Page): Page => {
  const name = path.split('/').at(-1)!;
  const language = LANGUAGES[name.split('.').at(-1)!] ?? 'txt';
  return { path, text: `# ${name}\n\n\`\`\`\`${language}\n${text.trimEnd()}\n\`\`\`\`\n` };
};

const LANGUAGES: Readonly<Record<string, string>> = {
  cjs: 'js',
  conf: 'nginx',
  css: 'css',
  html: 'html',
  json: 'json',
  service: 'ini',
  timer: 'ini',
  ts: 'ts',
  tsx: 'tsx',
  vue: 'vue',
  yaml: 'yaml',
};

/**
 * Turns a page of `docs/` into one of the site: links to sources and folders become text, since the site has neither,
 * and comments are removed, since the site shows no HTML.
 */
export function toSitePage({ path: source, text }: Page): Page {
  const path = source.replace(/README$/, 'index');
  const depth = path.split('/').length - 1;
  const isMissing = (target: string) =>
    target === 'deploy' || (target.match(/^(?:\.\.\/)+/)?.[0].length ?? 0) / 3 > depth;
  const linked = text
    .replace(/<!--[\s\S]*?-->\n*/g, '')
    .replace(LINK, (link, image: string, label: string, target: string) => {
      if (image !== '') return link;
      return isMissing(target) ? label : `[${label}](${pageOf(target)})`;
    })
    // Cases of the contract, which tests read.
    .replace(/^((?:`|~){3,})cases.*$/gm, '$1txt')
    .replaceAll('{{', '&#123;&#123;');
  return { path, text: linked };
}

/** Menu links to sites of other versions, by addresses such as `https://docs.example.com/0.2.0/`. */
export const versionLinks = (
  addresses: readonly string[],
): readonly { readonly text: string; readonly link: string }[] =>
  addresses.map((link) => ({ text: new URL(link).pathname.split('/').filter(Boolean).at(-1) ?? link, link }));

/** Index of all pages for language models (llms.txt). `pages` are in the order of the sections. */
export function llmsText(pages: readonly Page[]): string {
  const entries = pages.map(({ path, text }) => `- [${titleOf(text)}](${path}.md): ${summaryOf(text)}`);
  return [
    '# Parley',
    '> An embeddable team-chat engine in TypeScript that speaks the Zulip REST API.',
    entries.join('\n'),
    '',
  ].join('\n\n');
}

/** Anchor of a heading, as GitHub makes it, so that links between pages work in both places. */
export const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M}_ -]/gu, '')
    .replaceAll(' ', '-');

/**
 * Weight of a page in searches: guides before references, which repeat the words of guides often. Runs in the browser,
 * so it is self-contained.
 */
export const searchWeight = (id: string): number => {
  if (/\/(types|contract|adr|deploy|examples|api)\/|\/(CHANGELOG|tables|performance)\./.test(id)) return 0.1;
  return /\/(features|compatibility|errors|limits|extensions|design|CONTRIBUTING|testing|architecture)\./.test(id)
    ? 0.4
    : 1;
};
