import { createElement, type SVGProps } from 'react';

export interface IconData {
  /** Class of icons that right-to-left languages mirror; empty for others. */
  readonly name: string;
  /** Elements with their attributes. */
  readonly node: readonly (readonly [tag: string, attributes: Readonly<Record<string, string>>])[];
}

export interface IconProps extends SVGProps<SVGSVGElement> {
  readonly size?: number;
}

export type Icon = ReturnType<typeof createIcon>;

/** Returns the component of an icon. Icons without a label are hidden. */
export function createIcon({ name, node }: IconData) {
  return ({ size = 24, className = '', ...props }: IconProps) =>
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
