import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import react from '@vitejs/plugin-react';
import { defineConfig, esmExternalRequirePlugin, type Plugin } from 'vite';
import { sourcesOf } from '../../server/scripts/sources.mjs';
import { translations } from './translation-plugin.js';

const OUT = 'dist/app';
const ASSETS = 'web';
const SERVICE_WORKER = 'service-worker';

/** Removes older KaTeX font formats; all supported browsers read woff2. */
const removeFonts: Plugin = {
  name: 'remove-fonts',
  writeBundle() {
    const folder = join(import.meta.dirname, OUT, ASSETS);
    for (const name of readdirSync(folder).filter((file) => /\.(ttf|woff)$/.test(file))) rmSync(join(folder, name));
  },
};

const ICONS = join(import.meta.dirname, 'src/icons/icons.ts');

/** Makes each icon a module, so that parts load only the icons they draw. */
const iconModules: Plugin = {
  name: 'icon-modules',
  enforce: 'pre',
  load(id) {
    const [path, icon] = id.split('?icon=');
    if (path !== ICONS) return null;
    // Lines are `export const NAME = …`.
    const code = readFileSync(ICONS, 'utf8').replace(/^export const (\w+).*\n/gm, (line, name) =>
      icon === undefined ? `export { ${name} } from './icons.ts?icon=${name}';\n` : name === icon ? line : '',
    );
    return { code, moduleSideEffects: false };
  },
};

/** Renames the emoji font, because pages may use an installed font of the same name. */
const emojiFont: Plugin = {
  name: 'emoji-font',
  transform: (code, id) =>
    id.endsWith('/noto-color-emoji/index.css') ? code.replaceAll("'Noto Color Emoji'", "'Parley Noto Emoji'") : null,
};

const FONT_FACE = /@font-face\{[^}]*\}/g;

/**
 * Inserts the style sheet names into the element, whose shadow root loads them. Fonts get a separate sheet, because
 * only documents can declare them.
 */
const styleSheetsOfElement: Plugin = {
  name: 'style-sheets-of-element',
  enforce: 'post',
  generateBundle(_, bundle) {
    const sheet = Object.values(bundle).find(({ fileName }) => fileName.endsWith('.css'));
    if (sheet?.type !== 'asset') throw new Error('The element has no style sheet');
    const css = sheet.source.toString();
    const fonts = [...css.matchAll(FONT_FACE)].map(([rule]) => rule).join('');
    sheet.source = css.replaceAll(FONT_FACE, '');
    const reference = this.emitFile({ type: 'asset', name: 'element-fonts.css', source: fonts });
    const names = {
      __PARLEY_STYLE_SHEET__: `./${sheet.fileName.split('/').at(-1)}`,
      __PARLEY_FONTS__: `./${this.getFileName(reference).split('/').at(-1)}`,
    };
    for (const file of Object.values(bundle)) {
      if (file.type !== 'chunk') continue;
      for (const [placeholder, name] of Object.entries(names)) file.code = file.code.replaceAll(placeholder, name);
    }
  },
};

/**
 * Limits the styles of `tokens.css` to chat parts in another product's page; the page's rules take precedence. Custom
 * properties stay at the root, where any element can override them.
 */
const scopedStyles: Plugin = {
  name: 'scoped-styles',
  enforce: 'pre',
  transform(code, id) {
    return /\/app\/tokens\.css\b/.test(id) ? scoped(code.replaceAll(/\/\*.*?\*\//gs, '')) : null;
  },
};

function scoped(css: string): string {
  // A rule, or a media query with rules.
  const blocks = css.matchAll(/([^{}]+)\{((?:[^{}]*\{[^{}]*\})+\s*|[^{}]*)\}/g);
  return [...blocks]
    .flatMap(([, prelude = '', body = '']) => {
      if (prelude.trim().startsWith('@')) return `${prelude.trim()} {${scoped(body)}}`;
      const selectors = prelude.split(',').flatMap((each) => scopeOf(each.trim()));
      return selectors.length === 0 ? [] : `${selectors.join(', ')} {${body}}`;
    })
    .join('\n');
}

function scopeOf(selector: string): readonly string[] {
  if (selector === ':root') return [':where(:root)'];
  // Stronger than the page's universal rules, weaker than its class rules.
  if (selector === '[data-parley]') return ['div:where([data-parley])'];
  if (selector.startsWith('[data-theme')) return [`div:where([data-parley]${selector})`];
  return /^(html|body|#parley|:host)/.test(selector) ? [] : [`:where([data-parley]) ${selector}`];
}

/** One entry per file, imported by applications as `parley/web/…`. */
const entriesOf = (folder: string): Record<string, string> =>
  Object.fromEntries(
    readdirSync(join(import.meta.dirname, folder)).map((file) => [
      file.replace(/\.tsx?$/, ''),
      join(import.meta.dirname, folder, file),
    ]),
  );

/** Modules that the components share with the rest of the package or with the page. */
const SHARED_MODULES = {
  '@parley/chat': 'parley/chat',
  '@parley/client': 'parley/client',
  // Signals of `parley/chat`, next to it; not an entry of the package.
  '@preact/signals-core': '../chat-signals.js',
};

const plugins = [react(), translations, iconModules, emojiFont, removeFonts];

/** Folders with the sources of packages by name. */
const { alias } = sourcesOf(join(import.meta.dirname, '../../..'));

/**
 * `Features.DirSelector` of Lightning CSS, which would emit a language selector, although English pages can be
 * right-to-left.
 */
const DIR_SELECTOR = 4;

/** Browsers with `light-dark()`. For older ones it would be replaced, so that it ignores the page's color scheme. */
const OF_COLOR_SCHEME = ['chrome123', 'firefox120', 'safari17.5'];

/** Warnings about slow plugins, which depend on the load of the machine. */
const CHECKS = { pluginTimings: false, bundlerTimings: false };

const shared = {
  outDir: OUT,
  assetsDir: ASSETS,
  target: 'es2022',
  // Inlined images would need `data:` sources, and inlined modules would violate the content security policy.
  assetsInlineLimit: 0,
  modulePreload: { polyfill: false },
};

/**
 * Builds the application, with `--mode element` also the element, or with `--mode components` the React components.
 * Addresses are relative, because the server may be mounted below a path.
 */
export default defineConfig(({ mode }) => ({
  base: './',
  resolve: {
    conditions: ['browser'],
    alias: Object.entries(alias)
      .filter(([name]) => mode !== 'components' || !(name in SHARED_MODULES))
      .map(([find, replacement]) => ({ find, replacement })),
  },
  css: { lightningcss: { exclude: DIR_SELECTOR } },
  ...(mode === 'element'
    ? {
        define: { 'process.env.NODE_ENV': '"production"' },
        plugins: [...plugins, styleSheetsOfElement],
        build: {
          ...shared,
          cssTarget: OF_COLOR_SCHEME,
          emptyOutDir: false,
          cssCodeSplit: false,
          rolldownOptions: {
            checks: CHECKS,
            input: {
              element: join(import.meta.dirname, 'src/element/element.ts'),
              frame: join(import.meta.dirname, 'src/element/frame.ts'),
            },
            output: {
              // One file instead of one per set of modules shared with later parts.
              codeSplitting: { groups: [{ name: 'parley-chat', test: /element\/parley-chat\.tsx$/ }] },
              // Hosts include these addresses.
              entryFileNames: `${ASSETS}/[name].js`,
            },
          },
        },
      }
    : mode === 'components'
      ? {
          // Products bundle the components with their version of React.
          define: { 'process.env.NODE_ENV': '"production"' },
          publicDir: false,
          plugins: [
            ...plugins.slice(0, -1),
            scopedStyles,
            // CommonJS libraries require React.
            esmExternalRequirePlugin({ external: [/^react(-dom)?(\/|$)/] }),
          ],
          build: {
            target: 'es2022',
            assetsInlineLimit: 0,
            cssTarget: OF_COLOR_SCHEME,
            cssCodeSplit: false,
            modulePreload: false,
            rolldownOptions: {
              checks: CHECKS,
              input: entriesOf('src/components'),
              preserveEntrySignatures: 'strict',
              external: Object.keys(SHARED_MODULES),
              output: {
                paths: SHARED_MODULES,
                entryFileNames: '[name].js',
                chunkFileNames: '[name]-[hash].js',
                assetFileNames: ({ names }) => (names[0]?.endsWith('.css') ? 'style.css' : '[name]-[hash][extname]'),
              },
            },
          },
        }
      : {
          plugins,
          build: {
            ...shared,
            manifest: 'manifest.json',
            rolldownOptions: {
              checks: CHECKS,
              input: {
                index: join(import.meta.dirname, 'index.html'),
                [SERVICE_WORKER]: join(import.meta.dirname, 'src/push/service-worker.ts'),
              },
              // Browsers cache the address of a service worker.
              output: {
                // One file each instead of one per set of modules shared by several parts.
                codeSplitting: {
                  groups: [
                    { name: 'index', test: /src\/main\.tsx$/, priority: 2 },
                    { name: 'writing', test: /conversation\/writing\.tsx$/, priority: 1 },
                    { name: 'icons', test: /icons\/icons\.ts/ },
                    { name: 'styles', test: /src\/(?!managing)[^/]+\/[^/]+\.module\.css$/ },
                  ],
                },
                entryFileNames: ({ name }) => `${ASSETS}/${name === SERVICE_WORKER ? '[name]' : '[name]-[hash]'}.js`,
              },
            },
          },
        }),
}));
