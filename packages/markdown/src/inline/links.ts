import { isBlank, trim } from '../characters.js';
import { Element } from '../html/element.js';
import { findAutolinks } from '../links/autolinks.js';
import { completeUrl, hasForbiddenScheme, relativeToRealm, uploadPath } from '../links/url.js';
import { audioPlayer, inlineImage } from '../previews/uploads.js';
import { withOne } from '../sets.js';
import { cleanTitle, LinkSyntax, type Target } from './link-syntax.js';
import type { InlineContext, InlineRule } from './rule.js';

/** `![title](/user_uploads/…)` of an image or a sound; anything else so written stays text. */
export const media: InlineRule = (text, context) =>
  text.includes('![') && text.includes('user_uploads/')
    ? replaceBracketed(text, '![', (title, target) => mediaElement(title, target, context), context)
    : text;

/** `[text](url "title")` */
export const links: InlineRule = (text, context) =>
  text.includes('](') ? replaceBracketed(text, '[', (inside, target) => link(inside, target, context), context) : text;

export const autolinks: InlineRule = (text, context) => {
  let result = '';
  let done = 0;
  for (const { start, end } of findAutolinks(text, context.fileLinks, context.work)) {
    result += text.slice(done, start) + context.stash(linkOrText(text.slice(start, end), null, context));
    done = end;
  }
  return done === 0 ? text : result + text.slice(done);
};

/** A link to a URL, however incomplete; the bare text when its scheme is not allowed. */
export function linkOrText(url: string, text: string | null, context: InlineContext): Element | string {
  const href = completeUrl(context.restore(url));
  if (href === null) return text ?? url;
  const element = new Element('a', { href: relativeToRealm(href, context.options.realmUrl) });
  element.text = text ?? url;
  element.isTextFinal = true;
  return element;
}

function replaceBracketed(
  text: string,
  opening: '[' | '![',
  build: (inside: string, target: Target) => Element | null,
  context: InlineContext,
): string {
  let result = '';
  let done = 0;
  const syntax = new LinkSyntax(text);
  const lastTarget = text.lastIndexOf('](');
  for (
    let at = text.indexOf(opening);
    at !== -1 && at < lastTarget;
    at = text.indexOf(opening, Math.max(at + 1, done))
  ) {
    context.work.spend(1);
    if (opening === '[' && text[at - 1] === '!') continue;
    const bracket = at + opening.length - 1;
    const close = syntax.findClosingBracket(bracket);
    const target = close !== -1 && text[close + 1] === '(' ? syntax.readTarget(close + 1) : null;
    const element = target && build(text.slice(bracket + 1, close), target);
    if (!target || !element) continue;
    result += text.slice(done, at) + context.stash(element);
    done = target.end;
  }
  return result + text.slice(done);
}

function link(inside: string, target: Target, context: InlineContext): Element | null {
  const { realmUrl } = context.options;
  // A target that makes no link may hold many others.
  if (hasForbiddenScheme(target.href)) return null;
  context.work.spend(inside.length + target.href.length);
  const complete = completeUrl(trim(context.restore(target.href)));
  if (complete === null) return null;
  const href = relativeToRealm(complete, realmUrl);
  const title: Record<string, string> =
    target.title === null ? {} : { title: context.restore(cleanTitle(target.title)) };
  const element = new Element('a', { href, ...title });
  element.text = isBlank(inside) ? href : inside;
  element.isTextFinal = true;
  return element;
}

function mediaElement(title: string, target: Target, context: InlineContext): Element | null {
  const { realmUrl } = context.options;
  context.work.spend(title.length + target.href.length);
  const url = context.restore(target.href);
  const href = completeUrl(trim(url));
  const path = href === null ? null : uploadPath(href, realmUrl);
  if (path === null) return null;
  context.outcome.uploadPaths = withOne(context.outcome.uploadPaths, path);
  const upload = context.names.upload(path);
  if (!upload) return null;
  const name = context.restore(title);
  const source = `/user_uploads/${path}`;
  return audioPlayer(upload, source, name, url) ?? inlineImage(upload, path, name, context.outcome);
}
