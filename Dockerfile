# An image with the program runtime and the library libwinnow alone, for machines that run models:
#   docker build -t winnow .
#   docker run --rm -v "$PWD:/data" winnow run model.wnw picture.png
# With a GPU (the bases bring the CUDA compiler, cuBLASLt and cuDNN; NVIDIA's container toolkit brings the driver):
#   docker build --build-arg BUILD_BASE=nvidia/cuda:13.0.1-devel-ubuntu24.04 \
#     --build-arg BASE=nvidia/cuda:13.0.1-cudnn-runtime-ubuntu24.04 --build-arg WINNOW_CUDA=ON -t winnow-cuda .
#   docker run --rm --gpus all -v "$PWD:/data" winnow-cuda bench model.wnw
# Both bases are of one release of one distribution, with apt: programs take its library of C.
ARG BUILD_BASE=debian:12
ARG BASE=debian:12-slim

FROM ${BUILD_BASE} AS build
ARG WINNOW_CUDA=OFF
RUN apt-get update \
 && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends g++ cmake ninja-build git \
      nlohmann-json3-dev libcli11-dev zlib1g-dev libturbojpeg0-dev libspng-dev libdnnl-dev libfftw3-dev libxbyak-dev \
 && rm -rf /var/lib/apt/lists/*
COPY . /source
RUN cmake -S /source -B /build -G Ninja -D CMAKE_BUILD_TYPE=Release -D CMAKE_INSTALL_LIBDIR=lib -D WINNOW_TORCH=OFF -D WINNOW_CUDA=${WINNOW_CUDA} -D BUILD_TESTING=OFF
RUN cmake --build /build --target winnow-runtime winnow
RUN cmake --install /build --prefix /opt/winnow --component runtime --strip

FROM ${BASE}
COPY --from=build /opt/winnow /opt/winnow
RUN printf '/opt/winnow/lib\n/opt/winnow/lib/winnow/needed\n' > /etc/ld.so.conf.d/winnow.conf && ldconfig \
 && useradd --system --no-create-home --shell /usr/sbin/nologin winnow
ENV PATH=/opt/winnow/bin:$PATH
USER winnow
WORKDIR /data
HEALTHCHECK --interval=5m --timeout=1m CMD ["winnow-runtime", "doctor"]
ENTRYPOINT ["winnow-runtime"]
CMD ["--help"]
