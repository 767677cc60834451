import type { ContentNode } from './tree.js';

const MAX_LARGE = 12;

const isBlank = (node: ContentNode): boolean => typeof node === 'string' && node.trim() === '';

/** True for one paragraph of a few emoji. */
export function isOnlyEmoji(nodes: readonly ContentNode[]): boolean {
  const [node, ...others] = nodes.filter((each) => !isBlank(each));
  if (others.length > 0 || typeof node !== 'object' || node.type !== 'element' || node.tag !== 'p') return false;
  const parts = node.children.filter((each) => !isBlank(each));
  const isEmoji = (part: ContentNode) => typeof part === 'object' && /emoji/.test(part.type);
  return parts.length > 0 && parts.length <= MAX_LARGE && parts.every(isEmoji);
}

/** Removes paragraphs that consist of the links of the organization's images below them. */
export function withoutShownLinks(nodes: readonly ContentNode[], baseUrl: string): readonly ContentNode[] {
  const images = new Set(
    nodes.flatMap((node) => (typeof node === 'object' && node.type === 'image' ? [node.href] : [])),
  );
  if (images.size === 0) return nodes;
  const isShown = (part: ContentNode) =>
    typeof part === 'object' &&
    (part.type === 'link' ? part.href?.startsWith(baseUrl) && images.has(part.href) : isBreak(part));
  return nodes.filter(
    (node) =>
      !(
        typeof node === 'object' &&
        node.type === 'element' &&
        node.tag === 'p' &&
        node.children.every((part) => isBlank(part) || isShown(part))
      ),
  );
}

const isBreak = (node: ContentNode): boolean =>
  typeof node === 'object' && node.type === 'element' && node.tag === 'br';
