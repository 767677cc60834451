const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', amp: '&', nbsp: ' ' };

/** Plain text of a message whose HTML failed to render. */
export default function PlainText({ html }: { readonly html: string }) {
  const text = html.replaceAll(/<[^>]*>/g, ' ');
  return <p>{text.replaceAll(/&(\w+);/g, (entity, name: string) => ENTITIES[name] ?? entity)}</p>;
}
