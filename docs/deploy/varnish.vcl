vcl 4.1;
# For /etc/varnish/default.vcl, between a proxy with TLS and Parley. Varnish speaks no TLS, and has nothing to cache: responses are
# personal, and browsers keep files themselves. Parley: --url https://chat.example.com --trust-proxy loopback
backend default {
    .host = "127.0.0.1";
    .port = "9991";
    # Long polls take up to 55 seconds.
    .first_byte_timeout = 90s;
    .between_bytes_timeout = 90s;
}

sub vcl_recv {
    return (pass);
}
