import { createElement, type SVGProps } from 'react';

export interface IconData {
  /** Class of icons that right-to-left languages mirror; empty for others. */
  readonly name: string;
  /** Elements with their attributes. */
  readonly node: readonly (readonly [tag: string, attributes: Readonly<Record<string, string>>])[];
}

interface Props extends SVGProps<SVGSVGElement> {
  readonly size?: number;
}

/** Replaces the icon library's function, which supports styles that no icon here has. Icons without a label are hidden. */
export default function createIcon({ name, node }: IconData) {
  return ({ size = 24, className = '', ...props }: Props) =>
    createElement(
      'svg',
      {
        width: size,
        height: size,
        viewBox: '0 0 24 24',
        fill: 'none',
        stroke: 'currentColor',
        strokeWidth: 2,
        strokeLinecap: 'round',
        strokeLinejoin: 'round',
        className: `${name} ${className}`,
        'aria-hidden': props['aria-label'] === undefined || undefined,
        ...props,
      },
      ...node.map(([tag, attributes]) => createElement(tag, attributes)),
    );
}
