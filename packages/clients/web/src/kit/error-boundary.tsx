import { Component, type ReactNode } from 'react';

interface BoundaryProps {
  readonly text: string;
  /** Shown below the error. */
  readonly rest?: () => ReactNode;
  readonly children: ReactNode;
}

/** Shows an error line in place of a failed part; the rest of the page keeps working. */
export class ErrorBoundary extends Component<BoundaryProps, { readonly hasFailed: boolean }> {
  override state = { hasFailed: false };

  static getDerivedStateFromError() {
    return { hasFailed: true };
  }

  override render() {
    if (!this.state.hasFailed) return this.props.children;
    return (
      <>
        <p role="alert">{this.props.text}</p>
        {this.props.rest?.()}
      </>
    );
  }
}
